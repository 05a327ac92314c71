/** The client libraries' subscriptions against the service: what their READMEs show, and each method. */
import { createPrincipalClient, verifyWebhook as verifyAsPrincipal } from '@svc/sdk-principal';
import { createVerifier, SvcError, verifyWebhook } from '@svc/sdk-rp';
import { blockWith, runBlock } from '@svc/testkit/sdk/readme-block';
import { expect, it } from 'vitest';
import { eventOf, type Received, withReceiver } from '../endpoints/events/world.ts';

const world = await withReceiver();
const HOOKS = 'https://hooks.example/';

const clients = async () => {
  const { baseUrl } = world.deployment.process;
  const tenants = await world.deployment.createTenants();
  const { id: serviceDid } = (await world.call('GET', '/.well-known/did.json', tenants.rpKey)).json;
  return {
    tenants,
    verifier: createVerifier({ baseUrl, apiKey: tenants.rpKey, serviceDid: String(serviceDid) }),
    client: createPrincipalClient({ baseUrl, apiKey: tenants.principalKey }),
  };
};
type Clients = Awaited<ReturnType<typeof clients>>;

it.each([
  ['sdk-rp', 'verifier', 'https://shop.example/hooks/svc', verifyWebhook],
  ['sdk-principal', 'client', 'https://acme.example/hooks/svc', verifyAsPrincipal],
] as const)('%s: the subscription example of the README works', async (name, client, url, verify) => {
  const own: Pick<Clients, 'verifier' | 'client'> = await clients();
  world.received.splice(0);
  let secret = '';
  const { wanted, printed } = await runBlock<{ subscription_id: string }>(
    blockWith(name, '.subscriptions.create('),
    {
      modules: {},
      given: {
        [client]: own[client],
        deliver: world.deliver,
        keep: async (shown: string) => {
          secret = shown;
          await 0;
        },
      },
      // The result of the ping exists once it has been delivered.
      replaced: { [url]: HOOKS, 'for await (': 'await deliver();\nfor await (' },
      wanted: 'subscription_id',
    },
  );
  expect(printed).toEqual(['ping delivered 204 null']);
  await world.deliver();
  const [ping, again] = world.received.splice(0) as [Received, Received];
  expect(again.id).toBe(ping.id);
  const event = await verify(ping.request, { secret });
  expect(event).toMatchObject({ type: 'ping', subscription_id: wanted.subscription_id });
});

it('each subscription method of the client returns the result of its route', async () => {
  const { verifier, tenants } = await clients();
  const { subscriptions } = verifier;
  const types = ['decision.deny'] as const;
  const made = await subscriptions.create({ url: HOOKS, types, description: 'one', budgetLowPercent: 5 });
  const { subscription_id: id } = made;
  expect(made).toMatchObject({ types, description: 'one', budget_low_percent: 5, state: 'active' });
  const told = eventOf(await world.deny(tenants.rpKey));
  await world.deliver();
  const rotated = await subscriptions.rotate(id);
  expect(rotated.secret).not.toBe(made.secret);
  expect((await subscriptions.list()).map((one) => [one.subscription_id, one.secrets.length])).toEqual([
    [id, 2],
  ]);
  expect(await subscriptions.disable(id)).toMatchObject({ state: 'disabled', disabled_because: 'owner' });
  await expect(subscriptions.test(id)).rejects.toMatchObject({ kind: 'refused', code: 'CONFLICT' });
  expect(await subscriptions.enable(id)).toMatchObject({ state: 'active' });
  expect(await subscriptions.replay(id, { eventId: told })).toMatchObject({ subscription_id: id });
  const page = await subscriptions.deliveriesPage(id, { limit: 1 });
  expect(page.deliveries).toMatchObject([{ event_id: told, type: 'decision.deny' }]);
  expect(await subscriptions.delete(id)).toEqual({ subscription_id: id, deleted: true });
  await expect(subscriptions.delete(id)).rejects.toMatchObject({ kind: 'refused', code: 'NOT_FOUND' });
});

it('the client throws an SvcError for a malformed subscription id', async () => {
  const { verifier } = await clients();
  for (const id of ['', 'whs_1', '../decisions'])
    await expect(verifier.subscriptions.disable(id)).rejects.toThrow(SvcError);
  await expect(verifier.subscriptions.disable('..')).rejects.toMatchObject({ kind: 'invalid-argument' });
});
