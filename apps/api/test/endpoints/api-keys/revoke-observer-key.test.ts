/** `POST /observer-keys/{key_id}/revoke` (interface §API keys and caller identity). Who may call: access matrix. */
import { expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();
const revoke = (keyId: unknown) =>
  deployment.call('POST', `/observer-keys/${keyId}/revoke`, { key: ADMIN_TOKEN });
const issue = async () =>
  (await deployment.call('POST', '/observer-keys', { key: ADMIN_TOKEN, body: {} })).json;
const isLive = async (key: unknown) =>
  (await deployment.call('GET', '/me', { key: String(key) })).status === 200;

it('POST /observer-keys/{key_id}/revoke revokes this key only; a repeat returns the first revoked_at', async () => {
  const [one, other] = [await issue(), await issue()];
  const { status, json } = await revoke(one.key_id);
  expect([status, json]).toEqual([
    200,
    { key_id: one.key_id, revoked: true, revoked_at: expect.any(String) },
  ]);
  expect((await revoke(one.key_id)).json).toEqual(json);
  expect([await isLive(one.api_key), await isLive(other.api_key)]).toEqual([false, true]);
});

it('POST /observer-keys/{key_id}/revoke answers 404 to a key of another class, an unknown and a malformed key id', async () => {
  const { rpKey } = await deployment.createTenants();
  const { json } = await deployment.call('GET', '/me', { key: rpKey });
  for (const keyId of [json.key_id, '0'.repeat(12), 'x']) expect((await revoke(keyId)).status).toBe(404);
  expect(await isLive(rpKey)).toBe(true);
});
