/** `GET /event-subscriptions`: the caller's own subscriptions, never with a secret. */
import { expect, it } from 'vitest';
import { withOwnDeployment } from '../../world/deployment.ts';
import { withReceiver } from './world.ts';

const world = await withReceiver();
const without = withOwnDeployment({ SVC_DEMO: '0' });

it('GET /event-subscriptions lists those of the caller’s subject only, without secrets', async () => {
  const orgId = await world.deployment.createOrg();
  const { rpKey: key } = await world.deployment.createTenants({ orgId });
  const orgKey = await world.deployment.createKey('org:read', orgId);
  const { secret, ...created } = await world.create(key);
  const { json } = await world.call('GET', '/event-subscriptions', key);
  expect(json).toEqual({ subscriptions: [created] });
  expect(JSON.stringify(json)).not.toContain(secret);
  expect(await world.list(orgKey)).toEqual([]);
});

it('GET /event-subscriptions is 404 where the deployment sends no webhooks', async () => {
  const { rpKey: key } = await without.createTenants();
  expect((await without.call('GET', '/event-subscriptions', { key })).status).toBe(404);
});
