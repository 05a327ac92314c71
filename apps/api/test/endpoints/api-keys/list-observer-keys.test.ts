/** `GET /observer-keys` (interface §API keys and caller identity). Who may call: access matrix. */
import { expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { withOwnDeployment } from '../../world/deployment.ts';

const deployment = withOwnDeployment();
const issue = async (label: string) =>
  (await deployment.call('POST', '/observer-keys', { key: ADMIN_TOKEN, body: { label } })).json;

it('GET /observer-keys lists the service’s observer keys newest first without values, and no other keys', async () => {
  const { rpKey } = await deployment.createTenants();
  const issued = [await issue('first'), await issue('second')];
  const { status, text, json } = await deployment.call('GET', '/observer-keys', { key: ADMIN_TOKEN });
  expect([status, json]).toEqual([200, { keys: issued.reverse().map(({ api_key: _, ...shown }) => shown) }]);
  for (const value of [rpKey, ...issued.map((one) => String(one.api_key))]) expect(text).not.toContain(value);
});
