/** `POST /event-subscriptions`: an endpoint gets the events from then on (protocol §15). */

import { REFUSED_URLS } from '@svc/testkit/outbound/ssrf-corpus';
import { describe, expect, it } from 'vitest';
import { BODY, eventOf, withReceiver } from './world.ts';

const world = await withReceiver();

it('POST /event-subscriptions creates a subscription that delivers signed events from then on', async () => {
  const { secret, ...created } = await world.create(world.rpKey);
  expect(created).toMatchObject({ ...BODY, state: 'active', waiting: 0, budget_low_percent: 20 });
  expect(secret).toMatch(/^whsec_/);
  const receipt = await world.deny(world.rpKey);
  await world.deliver();
  expect(world.received).toMatchObject([
    {
      id: eventOf(receipt),
      signatures: 2,
      body: {
        type: 'decision.deny',
        timestamp: receipt.evaluated_at,
        subscription_id: created.subscription_id,
        data: expect.objectContaining({ receipt_id: receipt.receipt_id }),
      },
    },
  ]);
});

describe('POST /event-subscriptions answers 400', () => {
  it.each([
    ['a host of the service', { url: 'https://svc.test/' }],
    ['http', { url: 'http://hooks.of.others.example/' }],
    ['credentials', { url: 'https://a:b@hooks.example/' }],
    ['no type', { types: [] }],
    ['a type twice', { types: ['decision.deny', 'decision.deny'] }],
    ['an unknown type', { types: ['decision.maybe'] }],
    ['a budget_low_percent of 0', { budget_low_percent: 0 }],
  ])('to %s', async (_, change) => {
    const body = { ...BODY, ...change };
    expect((await world.call('POST', '/event-subscriptions', world.rpKey, body)).status).toBe(400);
  });

  it('to every URL that delivery would refuse, naming the url; for a wrong port the message says why', async () => {
    // A missing slash at the end is added.
    const refused = REFUSED_URLS.filter((url) => url !== 'https://acme.example');
    const taken: unknown[] = [];
    let key = '';
    for (const [i, url] of refused.entries()) {
      // Stays below the rate limit of a key.
      if (i % 100 === 0) key = (await world.deployment.createTenants()).rpKey;
      const { status, json } = await world.call('POST', '/event-subscriptions', key, { ...BODY, url });
      if (status !== 400 || !String(json.message).includes('url')) taken.push({ url, status, json });
    }
    expect(taken).toEqual([]);
    const { json } = await world.call('POST', '/event-subscriptions', key, {
      ...BODY,
      url: 'https://acme.example:8443/',
    });
    expect(json.message).toBe(
      'url: a port other than 443; events are sent to https, port 443, of a public host name.',
    );
  });

  it('to the eleventh subscription of a subject, also for concurrent calls', async () => {
    const { rpKey: key } = await world.deployment.createTenants();
    const answers = await Promise.all(
      Array.from({ length: 14 }, () => world.call('POST', '/event-subscriptions', key, BODY)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(4);
  });
});
