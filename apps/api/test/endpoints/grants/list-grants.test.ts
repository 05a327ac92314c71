/** `GET /grants` (interface §Principal lifecycle). Its pages: guarantees/paging. */
import { generateAgentKey } from '@svc/sdk-principal/agent';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';
import { issueGrant, type Tenants } from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let own: Tenants;
let sibling: Tenants;
let foreign: Tenants;
let orgRead: string;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  own = await deployment.createTenants({ orgId });
  sibling = await deployment.createTenants({ orgId });
  foreign = await deployment.createTenants();
  orgRead = await deployment.createKey('org:read', orgId);
});

const allocate = (body: unknown, key = own.principalKey) => deployment.call('POST', '/grants', { key, body });
const list = async (key: string, query = '') => deployment.call('GET', `/grants${query}`, { key });
const idsOf = async (key: string, query = '') =>
  ((await list(key, query)).json.grants as { id: string }[]).map(({ id }) => id);

describe('GET /grants', () => {
  it('shows every field of a Grant, active and revoked', async () => {
    const tenants = await deployment.createTenants();
    const { json } = await allocate({ agent: tenants.agent.did }, tenants.principalKey);
    const entry = json.credentialStatus as { statusListIndex: string; statusListCredential: string };
    const summary = {
      id: json.id,
      principal: tenants.principalDid,
      agent: tenants.agent.did,
      status_list: entry.statusListCredential,
      status_list_index: Number(entry.statusListIndex),
      allocated_at: json.allocated_at,
    };
    expect((await list(tenants.principalKey)).json).toEqual({
      grants: [{ ...summary, revoked_at: null, state: 'active' }],
      next_cursor: null,
    });
    const body = { grant_id: json.id };
    const revoked = await deployment.call('POST', '/revoke', { key: tenants.principalKey, body });
    const { revoked_at } = revoked.json ?? {};
    expect((await list(tenants.principalKey)).json.grants).toEqual([
      { ...summary, revoked_at, state: 'revoked' },
    ]);
  });

  it('filters by agent, by state and by both', async () => {
    const { principalKey, principalDid } = await deployment.createTenants();
    const key = await deployment.createKey('principal', principalDid);
    const [a, b] = [(await generateAgentKey()).did, (await generateAgentKey()).did];
    const ids: string[] = [];
    for (const agent of [a, b, a]) ids.unshift(String((await allocate({ agent }, principalKey)).json.id));
    const [third, second, first] = ids;
    await deployment.call('POST', '/revoke', { key: principalKey, body: { grant_id: first } });
    expect(await idsOf(key)).toEqual(ids);
    expect(await idsOf(key, `?agent=${a}`)).toEqual([third, first]);
    expect(await idsOf(key, '?state=active')).toEqual([third, second]);
    expect(await idsOf(key, '?state=revoked')).toEqual([first]);
    expect(await idsOf(key, `?agent=${a}&state=revoked&limit=1`)).toEqual([first]);
    expect(await idsOf(key, `?agent=${(await generateAgentKey()).did}`)).toEqual([]);
  });

  it('lists to a Principal its own, to an org those of its members or one of them, to the operator all or one Principal’s', async () => {
    const [mine, theirs, other] = [
      await issueGrant(own),
      await issueGrant(sibling),
      await issueGrant(foreign),
    ];
    const newest = async (key: string, query = '') => (await idsOf(key, query)).slice(0, 3);
    expect(await newest(own.principalKey)).not.toContain(theirs.grantId);
    const members = [theirs.grantId, mine.grantId];
    expect((await newest(orgRead)).slice(0, 2)).toEqual(members);
    expect(await newest(orgRead)).not.toContain(other.grantId);
    expect(await newest(orgRead, `?principal=${sibling.principalDid}`)).toEqual([theirs.grantId]);
    expect(await newest(ADMIN_TOKEN)).toEqual([other.grantId, ...members]);
    expect(await newest(ADMIN_TOKEN, `?principal=${foreign.principalDid}`)).toEqual([other.grantId]);
    expect(await newest(own.principalKey, `?principal=${own.principalDid}`)).toContain(mine.grantId);
  });

  it('answers 404 for another’s Principal exactly as for one that does not exist', async () => {
    const absent = foreign.principalDid.replace(/.{10}$/, '0000000000');
    for (const key of [own.principalKey, orgRead]) {
      const seen = await list(key, `?principal=${foreign.principalDid}`);
      const none = await list(key, `?principal=${absent}`);
      expect([seen.status, seen.text.replaceAll(foreign.principalDid, '')]).toEqual([
        404,
        none.text.replaceAll(absent, ''),
      ]);
    }
  });

  it('is empty for an org without Principals', async () => {
    const key = await deployment.createKey('org:read', await deployment.createOrg());
    expect((await list(key)).json).toEqual({ grants: [], next_cursor: null });
  });

  it.each([
    ...['limit=0', 'limit=201', 'limit=-1', 'limit=1.5', 'limit=', 'limit=1&limit=2', 'limit=%31e1'],
    ...['state=all', 'state=', 'agent=x', 'principal=x', 'principal=', 'unheard=1', '__proto__=1', 'Limit=1'],
    ...[
      'cursor=',
      'cursor=x',
      'cursor=%00',
      'cursor=%F0%9F%98%80',
      `cursor=${'a'.repeat(600)}`,
      'cursor=%E0%A4%A',
    ],
    `cursor=${Buffer.from('urn:svc:grant:1').toString('base64url')}`,
    `cursor=${Buffer.from(`drc_${'0'.repeat(26)}`).toString('base64url')}`,
  ])('refuses ?%s with 400', async (query) => {
    const key = await deployment.createKey('org:read', orgId);
    expect((await list(key, `?${query}`)).json.error).toBe('INVALID_REQUEST');
  });
});
