/** `GET /relying-parties/{did}` (interface §Relying party). */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { type Registered, randomSlug, withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();
let orgId: string;
let foreignOrgId: string;
let orgAdmin: string;
let own: Registered;
let foreign: Registered;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  foreignOrgId = await deployment.createOrg();
  orgAdmin = await deployment.createKey('org:admin', orgId);
  own = await deployment.register('/relying-parties', managed(), orgAdmin);
  foreign = await deployment.register('/relying-parties', managed({ org_id: foreignOrgId }));
});

const managed = (more: object = {}) => ({ kind: 'managed', slug: randomSlug('r'), ...more });
const get = (did: string, key: string) =>
  deployment.call('GET', `/relying-parties/${encodeURIComponent(did)}`, { key });
const patch = async (did: string, body: object, key?: string) =>
  deployment.call('PATCH', `/relying-parties/${encodeURIComponent(did)}`, {
    key: key ?? (await deployment.createKey('org:admin', orgId)),
    body,
  });

describe('GET /relying-parties/{did}', () => {
  it('shows it to its own key, the keys of its org and the operator', async () => {
    const orgRead = await deployment.createKey('org:read', orgId);
    for (const key of [own.key, orgRead, orgAdmin, ADMIN_TOKEN])
      expect((await get(own.did, key)).json.did).toBe(own.did);
  });

  it('and PATCH answer 404 for another’s relying party exactly as for one that does not exist', async () => {
    const absent = foreign.did.replace(/.{10}$/, '0000000000');
    const orgRead = await deployment.createKey('org:read', orgId);
    for (const key of [own.key, orgRead, orgAdmin]) {
      const seen = await get(foreign.did, key);
      const none = await get(absent, key);
      expect([seen.status, seen.text.replaceAll(foreign.did, '')]).toEqual([
        404,
        none.text.replaceAll(absent, ''),
      ]);
    }
    const body = { name: 'Taken over' };
    const changed = await patch(foreign.did, body);
    const none = await patch(absent, body);
    expect([changed.status, changed.text.replaceAll(foreign.did, '')]).toEqual([
      404,
      none.text.replaceAll(absent, ''),
    ]);
    expect((await get(foreign.did, foreign.key)).json.name).not.toBe('Taken over');
  });

  it('answers 404 to a path that is not a DID', async () => {
    for (const did of ['x', 'did:web:', 'did:web:a b', 'x/..'])
      expect((await get(did, ADMIN_TOKEN)).status).toBe(404);
  });
});
