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

it('GET /api-keys lists every live key and the 900 revoked last, in less than 1 MB', async () => {
  const did = `did:web:${randomSlug('many')}.example:`.padEnd(508, 'x');
  const rp = await deployment.register('/relying-parties', { kind: 'hosted', did });
  await deployment.sql.query(
    `insert into api_keys (key_hash, key_id, role, subject, label, created_at, revoked_at)
     select hash, left(encode(hash, 'hex'), 12), 'rp', $1, $2,
       svc_now() - interval '1 day' + n * interval '1 s', case when n > 19 then svc_now() + n * interval '1 ms' end
     from generate_series(1, 920) as n, sha256(convert_to($1 || n, 'UTF8')) as hash`,
    [did, '\u{1f511}'.repeat(100)],
  );
  const { rows } = await deployment.sql.query<{ key_id: string }>(
    `select key_id from api_keys where subject = $1
     and revoked_at is distinct from (select min(revoked_at) from api_keys where subject = $1) order by created_at desc`,
    [did],
  );
  const { status, json } = await list(rp.key);
  expect(status).toBe(200);
  expect((json.keys as Key[]).map(({ key_id: keyId }) => keyId)).toEqual(
    rows.map(({ key_id: keyId }) => keyId),
  );
  expect(rows).toHaveLength(20 + 900);
  expect(Buffer.byteLength(JSON.stringify(json))).toBeLessThan(2 ** 20);
});

describe('For a DID that is a Principal of one customer and a relying party of another, GET /api-keys', () => {
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

  it('lists to each party its own keys, and neither can revoke the other’s (404); the operator sees both', async () => {
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
