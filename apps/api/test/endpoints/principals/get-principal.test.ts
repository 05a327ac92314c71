/** `GET /principals/{did}` (interface §Principal lifecycle, §PrincipalDirectoryEntry). */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';
import type { Tenants } from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let otherOrgId: string;
let own: Tenants;
let foreign: Tenants;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  otherOrgId = await deployment.createOrg();
  own = await deployment.createTenants({ orgId });
  foreign = await deployment.createTenants({ orgId: otherOrgId });
});

const get = (path: string, key: string) => deployment.call('GET', path, { key });
const recordPath = (did: string) => `/principals/${encodeURIComponent(did)}`;
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

interface Entry {
  readonly did: string;
  readonly kind: string;
}
interface Page {
  readonly principals: readonly Entry[];
  readonly next_cursor: string | null;
}
const pageOf = async (query: string, key: string): Promise<Page> =>
  (await get(`/principals?${query}`, key)).json as unknown as Page;

describe('GET /principals/{did}', () => {
  it('shows the full record to its own key, its org’s keys and the operator', async () => {
    const keys = [
      own.principalKey,
      await deployment.createKey('org:read', orgId),
      await deployment.createKey('org:admin', orgId),
      ADMIN_TOKEN,
    ];
    for (const key of keys) {
      const { status, json } = await get(recordPath(own.principalDid), key);
      expect([status, json]).toEqual([
        200,
        {
          did: own.principalDid,
          kind: 'managed',
          domain: DOMAIN,
          verification: expect.objectContaining({ state: 'verified', token: expect.any(String) }),
          created_at: timestamp,
          org_id: orgId,
          may_be_named: false,
        },
      ]);
    }
  });

  it('shows the directory entry to any other valid Principal, RP or org key', async () => {
    const { principals } = await pageOf(`org_id=${orgId}`, ADMIN_TOKEN);
    const entry = principals.find(({ did }) => did === own.principalDid);
    const keys = [
      own.rpKey,
      foreign.rpKey,
      foreign.principalKey,
      await deployment.createKey('org:read', otherOrgId),
      await deployment.createKey('org:admin', otherOrgId),
    ];
    for (const key of keys) expect((await get(recordPath(own.principalDid), key)).json).toEqual(entry);
  });

  it.each(['did:web:nobody.example', 'x', 'did:web:', 'did:key:z6Mk', '%00'])(
    'answers 404 to %s',
    async (did) => {
      const path = did === '%00' ? '/principals/%00' : recordPath(did);
      expect((await get(path, own.principalKey)).json.error).toBe('NOT_FOUND');
    },
  );

  it('answers 401 without a key and with an observer key, like GET /principals', async () => {
    expect((await deployment.call('GET', recordPath(own.principalDid))).status).toBe(401);
    const observer = await deployment.createKey('observer', `did:web:${DOMAIN}`);
    expect((await get(recordPath(own.principalDid), observer)).status).toBe(401);
    expect((await get('/principals', observer)).status).toBe(401);
  });
});
