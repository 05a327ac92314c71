/** `GET /api-keys` (interface §API keys and caller identity). Who may call: access matrix. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { type Registered, randomSlug, withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();
let orgId: string;

beforeAll(async () => {
  orgId = await deployment.createOrg();
});

interface Key {
  readonly key_id: string;
  readonly api_key: string;
}

const post = (path: string, key: string, body?: unknown) =>
  deployment.call('POST', path, { key, ...(body === undefined ? {} : { body }) });
const list = (key: string, subject?: string) =>
  deployment.call('GET', `/api-keys${subject === undefined ? '' : `?subject=${subject}`}`, { key });
const revoke = (key: string, keyId: string, subject?: string) =>
  post(`/api-keys/${keyId}/revoke${subject === undefined ? '' : `?subject=${subject}`}`, key);
const isLive = async (key: string) => (await deployment.call('GET', '/me', { key })).status === 200;

describe('a DID that is a Principal of one customer and a relying party of another', () => {
  let principal: Registered;
  let rp: Registered;
  let orgAdmin: string;

  beforeAll(async () => {
    const did = `did:web:${randomSlug('both')}.example`;
    principal = await deployment.register('/principals', { kind: 'hosted', did });
    orgAdmin = await deployment.createKey('org:admin', orgId);
    rp = await deployment.register('/relying-parties', { kind: 'hosted', did }, orgAdmin);
  });

  const ids = async (key: string, subject?: string) =>
    ((await list(key, subject)).json.keys as Key[]).map(({ key_id: keyId }) => keyId);

  it('each sees and revokes its own keys alone', async () => {
    const [principalId, rpId] = [principal, rp].map(({ body }) => String(body.api_key_id)) as [
      string,
      string,
    ];
    expect(await ids(principal.key)).toEqual([principalId]);
    expect(await ids(rp.key)).toEqual([rpId]);
    expect(await ids(orgAdmin, rp.did)).toEqual([rpId]);
    expect((await ids(ADMIN_TOKEN, rp.did)).sort()).toEqual([principalId, rpId].sort());
    expect((await revoke(rp.key, principalId)).status).toBe(404);
    expect((await revoke(orgAdmin, principalId)).status).toBe(404);
    expect((await revoke(principal.key, rpId)).status).toBe(404);
    expect(await isLive(principal.key)).toBe(true);
  });
});
