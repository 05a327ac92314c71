/** `GET /orgs/{org_id}` (interface §Org). Who may call: access matrix. */
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();

const post = (path: string, body: unknown, key = ADMIN_TOKEN) =>
  deployment.call('POST', path, { key, ...(body === undefined ? {} : { body }) });
const createOrg = async () =>
  String((await post('/orgs', { slug: randomSlug('org'), name: 'Acme' })).json.org_id);

describe('The members in GET /orgs/{org_id}', () => {
  it('have exactly the members of OrgMember, Principals before relying parties', async () => {
    const id = await createOrg();
    const { principalDid, rpDid } = await deployment.createTenants({ orgId: id, rp: { name: 'Shop' } });
    const { json } = await deployment.call('GET', `/orgs/${id}`, { key: ADMIN_TOKEN });
    expect(json).toMatchObject({ org_id: id, name: 'Acme' });
    expect(json.members).toEqual([
      {
        did: principalDid,
        kind: 'principal',
        created_at: expect.any(String),
        principal_kind: 'managed',
        domain: 'svc.test',
        verification_state: 'verified',
        verification: expect.objectContaining({ state: 'verified', reverified_every_hours: 24 }),
      },
      {
        did: rpDid,
        kind: 'relying_party',
        created_at: expect.any(String),
        name: 'Shop',
        proof_window_seconds: 60,
        verify_rate_limit_per_minute: 600,
      },
    ]);
  });

  it('are all listed, even 401 of them', async () => {
    const id = await createOrg();
    await deployment.sql.query(
      `insert into principals (did, kind, domain, verification_state, verification_token, org_id, may_be_named)
       select 'did:web:' || n || '.many.example', 'hosted', n || '.many.example', 'unverified', 'x', $1, false
       from generate_series(1, 401) n`,
      [id],
    );
    const { json } = await deployment.call('GET', `/orgs/${id}`, { key: ADMIN_TOKEN });
    const dids = (json.members as { did: string }[]).map(({ did }) => did);
    expect([dids.length, new Set(dids).size]).toEqual([401, 401]);
  });
});
