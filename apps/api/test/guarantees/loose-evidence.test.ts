/**
 * Evidence that a tenant can have stored without limit is stored so that it can be deleted (protocol §8, decision 28).
 */
import { expect, it } from 'vitest';
import { withOwnDeployment } from '../world/deployment.ts';
import { issueGrant } from '../world/tenants.ts';

const deployment = withOwnDeployment();

it('every status list and DID document that was never served and that no Receipt names is stored as loose evidence', async () => {
  const tenants = await deployment.createTenants();
  const { principalKey: key, agent } = tenants;
  const [first] = [await issueGrant(tenants), await issueGrant(tenants)];
  const kid = encodeURIComponent(`${tenants.principalDid}#key-1`);
  for (const [path, body] of [
    ['/revoke', { grant_id: first?.grantId }],
    [`/agents/${encodeURIComponent(agent.did)}/disable`, undefined],
    [`/keys/${kid}/compromise`, undefined],
  ] as const)
    expect((await deployment.call('POST', path, { key, ...(body && { body }) })).status).toBe(200);
  const { rows } = await deployment.sql.query(
    `select content_type as type, count(*)::int as stored, count(l.hash)::int as loose
     from evidence left join loose_evidence l using (hash)
     where content_type in ('application/vc+jwt', 'application/did+json') group by 1 order by 1`,
  );
  // Documents: the one at registration and the one without the key. Lists: each one that was signed.
  expect(rows).toEqual([
    { type: 'application/did+json', stored: 2, loose: 2 },
    { type: 'application/vc+jwt', stored: 3, loose: 3 },
  ]);
});
