/**
 * Events reach their endpoints: signed by Standard Webhooks, in order, repeated if they were not accepted, and sent
 * nowhere else.
 */
import { createPublicKey, verify } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { startEventDeliverer } from '@svc/process';
import { encodeUlid } from '@svc/protocol';
import {
  type EventDeliveryRepository,
  type EventSubscriptionRecord,
  presentSecret,
  RETRY_SECONDS,
  type RevocationNoticeRepository,
} from '@svc/service';
import { sampled, sampleOf } from '@svc/testkit/sampled';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { createWorld, denyCommit, insertGrant, type World } from '@svc/testkit/store/world';
import { until } from '@svc/testkit/until';
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Received, ROOT, secrets, startReceivers, statusKey } from './receiver.ts';

const stores = withStores();
let world: World;

beforeEach(async () => {
  await runSql(stores.url, 'truncate event_subscriptions, event_outbox, event_log cascade');
  world = await createWorld(stores.first);
});

const root = () => secrets.current ?? '';
const subscribe = (host: string, audience = `rp ${world.relyingParty.did}` as const) =>
  stores.first.transaction((tx) =>
    tx.eventSubscriptions.insert(
      {
        subscriptionId: `whs_${encodeUlid(Date.now(), crypto.getRandomValues(new Uint8Array(10)))}`,
        audience,
        url: `https://${host}.hooks.example/svc?of=tests`,
        description: null,
        types: ['decision.deny', 'decision.allow', 'grant.revoked'],
        budgetLowPercent: 20,
        createdBy: null,
      },
      root(),
    ),
  );
const secretOf = ({ subscriptionId }: EventSubscriptionRecord, number = 1) =>
  presentSecret(secrets.derive(subscriptionId, { number, root: root() }) as Uint8Array);
const deny = (grantId: string | null = null) =>
  denyCommit(world, { grantId: grantId as never, principal: grantId === null ? null : world.principal.did });
const commit = (count: number, grantId: string | null = null) =>
  stores.first.verify.commitDecisions(Array.from({ length: count }, () => deny(grantId)));
/** A later pass moves events that another transaction on the server holds back. */
const untilTold = async () => {
  while ((await runSql(stores.url, 'select from event_outbox limit 1')).length > 0)
    await stores.first.eventLog.sequence(10_000);
};
/** Simulates that everything which waits, and the endpoints, have waited long enough. */
const passTime = () =>
  runSql(
    stores.url,
    `with d as (update event_deliveries set next_attempt_at = svc_now(), scheduled_at = least(scheduled_at, svc_now()),
       taken_until = null where state = 'waiting'),
     n as (update event_due set look_at = svc_now(), noted = default)
     update event_subscriptions set not_before = svc_now(), asked_until = least(asked_until, svc_now())`,
  );
/** Simulates that a minute has passed. */
const passMinute = () =>
  runSql(
    stores.url,
    `with d as (update event_deliveries set next_attempt_at = svc_now()
       where state = 'waiting' and next_attempt_at <= svc_now() + interval '1 minute'),
     n as (update event_due set look_at = svc_now(), noted = default)
     update event_subscriptions set not_before = svc_now()`,
  );
/** Seconds until endpoints may be called again. */
const secondsToWait = async () => {
  const rest = `select extract(epoch from not_before - svc_now())::float8 as s from event_subscriptions`;
  return (await runSql<{ s: number }>(stores.url, rest))[0]?.s ?? 0;
};
const headersOf = ({ headers }: Received) => ({
  'webhook-id': String(headers['webhook-id']),
  'webhook-timestamp': String(headers['webhook-timestamp']),
  'webhook-signature': String(headers['webhook-signature']),
});
const idOf = ({ headers }: Received) => String(headers['webhook-id']);
const deliveriesOf = ({ subscriptionId }: EventSubscriptionRecord) =>
  stores.first.eventDeliveries.list(subscriptionId, { beforePosition: undefined, limit: 100 });
const find = async ({ audience, subscriptionId }: EventSubscriptionRecord) =>
  stores.first.eventSubscriptions.find(audience, subscriptionId);

describe('a webhook message', () => {
  it('verifies with the standardwebhooks package, but not with a changed byte, another id, an old time or another secret', async () => {
    const { received, deliver } = await startReceivers(stores.first);
    const subscription = await subscribe('a');
    const [decision] = [deny()];
    await stores.first.verify.commitDecisions([decision]);
    await untilTold();
    await deliver();
    const [one] = received as [Received];
    const receiver = new Webhook(secretOf(subscription));
    expect(receiver.verify(one.body, headersOf(one))).toEqual({
      type: 'decision.deny',
      timestamp: new Date(decision.evaluatedAtMs).toISOString(),
      subscription_id: subscription.subscriptionId,
      data: {
        receipt_id: decision.receiptId,
        relying_party: world.relyingParty.did,
        principal: null,
        grant_id: null,
        agent: null,
      },
    });
    expect(one.headers).toMatchObject({
      'webhook-id': `evt_${decision.receiptId.slice(4)}`,
      'content-type': 'application/json',
    });
    expect(() => receiver.verify(`${one.body} `, headersOf(one))).toThrow();
    expect(() => receiver.verify(one.body, { ...headersOf(one), 'webhook-id': 'evt_other' })).toThrow();
    expect(() => receiver.verify(one.body, { ...headersOf(one), 'webhook-timestamp': '1' })).toThrow();
    const stranger = new Webhook(presentSecret(new Uint8Array(32)));
    expect(() => stranger.verify(one.body, headersOf(one))).toThrow();
  });

  it('has a v1a signature by the status key over id, time and body', async () => {
    const { received, deliver } = await startReceivers(stores.first);
    await subscribe('a');
    await commit(1);
    await untilTold();
    await deliver();
    const [one] = received as [Received];
    const headers = headersOf(one);
    const [, signature = ''] = headers['webhook-signature'].split(' v1a,');
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${one.body}`;
    const key = createPublicKey(statusKey.publicKey.export({ format: 'pem', type: 'spki' }));
    expect(verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64'))).toBe(true);
  });

  it('is signed with both secrets after a rotation, and with the new one alone once the old one has ended', async () => {
    const { received, deliver } = await startReceivers(stores.first);
    const subscription = await subscribe('a');
    await stores.first.eventSubscriptions.rotate(subscription.subscriptionId, root(), 24);
    await commit(1);
    await untilTold();
    await deliver();
    await runSql(stores.url, `update event_secrets set ends_at = svc_now() where ends_at is not null`);
    await commit(1);
    await untilTold();
    await deliver();
    const [both, later] = received as [Received, Received];
    for (const number of [1, 2])
      new Webhook(secretOf(subscription, number)).verify(both.body, headersOf(both));
    new Webhook(secretOf(subscription, 2)).verify(later.body, headersOf(later));
    expect(() => new Webhook(secretOf(subscription, 1)).verify(later.body, headersOf(later))).toThrow();
  });

  it('is signed with the remaining secret if the root of the other is missing, which is logged once', async () => {
    const { received, deliver, logged } = await startReceivers(stores.first);
    const subscription = await subscribe('a');
    await stores.first.eventSubscriptions.rotate(subscription.subscriptionId, root(), 24);
    await runSql(stores.url, `update event_secrets set root = 'gone' where number = 1`);
    await commit(5);
    await untilTold();
    await deliver();
    expect(received).toHaveLength(5);
    for (const one of received) new Webhook(secretOf(subscription, 2)).verify(one.body, headersOf(one));
    expect(logged).toEqual([`webhook.root_missing {"subscription_id":"${subscription.subscriptionId}"}`]);
  });

  it('waits without counting as a failure while its roots are missing or the signer is away; each is logged once', async () => {
    const { received, deliver, deps, logged } = await startReceivers(stores.first);
    const subscription = await subscribe('a');
    await commit(20);
    await untilTold();
    await runSql(stores.url, `update event_secrets set root = 'gone'`);
    await deliver();
    await runSql(stores.url, `update event_secrets set root = $1`, [root()]);
    await passTime();
    const { signer } = deps.identity.statusKeys;
    Object.assign(signer, { sign: () => Promise.reject(new Error('the token is away')) });
    await deliver();
    expect(received).toEqual([]);
    expect(logged.map((line) => line.split(' ')[0])).toEqual(['webhook.not_signed', 'webhook.not_signed']);
    expect(logged.join()).not.toContain(ROOT);
    expect(await find(subscription)).toMatchObject({ failingSinceMs: null, waiting: 20 });
  });
});

describe('a webhook endpoint that', () => {
  it('answers 500 gets the same event id again, and no longer counts as failing after a success', async () => {
    const { received, answers, deliver } = await startReceivers(stores.first);
    const subscription = await subscribe('a');
    answers.set('a.hooks.example', (_, response, nth) => response.writeHead(nth === 0 ? 500 : 200).end());
    await commit(1);
    await untilTold();
    await deliver();
    expect(await deliveriesOf(subscription)).toMatchObject([
      { state: 'waiting', attempts: 1, lastStatus: 500, lastProblem: 'answered 500: 200 to 299 is expected' },
    ]);
    expect(await find(subscription)).toMatchObject({ failingSinceMs: expect.any(Number) });
    await passTime();
    await deliver();
    expect(received.map(idOf)).toEqual([idOf(received[0] as Received), idOf(received[0] as Received)]);
    expect(await deliveriesOf(subscription)).toMatchObject([
      { state: 'delivered', attempts: 2, lastStatus: 200 },
    ]);
    expect(await find(subscription)).toMatchObject({ failingSinceMs: null });
  });

  it('always fails is tried ten times within three days, and the event is then given up', async () => {
    const { received, answers, deliver } = await startReceivers(stores.first);
    const subscription = await subscribe('a');
    answers.set('a.hooks.example', (_, response) => response.writeHead(503).end());
    await commit(1);
    await untilTold();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 12; attempt++) {
      await deliver();
      const [delivery] = await deliveriesOf(subscription);
      if (delivery?.nextAttemptAtMs != null)
        waits.push((delivery.nextAttemptAtMs - (delivery.lastAttemptAtMs ?? 0)) / 1_000);
      await passTime();
    }
    expect(received.length).toBe(10);
    expect(await deliveriesOf(subscription)).toMatchObject([{ state: 'failed', attempts: 10 }]);
    expect(waits.length).toBe(RETRY_SECONDS.length);
    for (const [i, wait] of waits.entries()) {
      expect(wait).toBeLessThanOrEqual((RETRY_SECONDS[i] ?? 0) + 0.01);
      expect(wait).toBeGreaterThanOrEqual((RETRY_SECONDS[i] ?? 0) * 0.9 - 0.01);
    }
    expect(waits.reduce((sum, wait) => sum + wait)).toBeLessThanOrEqual(3 * 86_400);
  });

  it('refuses only one event gets it at the ten scheduled times, and at most once more between two of them', async () => {
    const { received, answers, deliver } = await startReceivers(stores.first);
    const subscription = await subscribe('a');
    await commit(1);
    await untilTold();
    const ids: string[] = [];
    answers.set('a.hooks.example', (request, response) => {
      const id = String(request.headers['webhook-id']);
      if (ids.length === 0) ids.push(id);
      response.writeHead(id === ids[0] ? 500 : 204).end();
    });
    const takeOthers = async (rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        await commit(1);
        await untilTold();
        await passMinute();
        await deliver();
        await passMinute();
        await deliver();
      }
    };
    const tries = () => received.filter((one) => idOf(one) === ids[0]).length;
    const state = async () => (await deliveriesOf(subscription)).at(-1)?.state;
    await deliver();
    await takeOthers(sampled({ quick: 4, deep: 15 }));
    // The first two come within seconds; the third was brought forward by a success.
    expect([tries(), await state()]).toEqual([3, 'waiting']);
    for (let attempt = 3; attempt <= 10; attempt++) {
      expect(await state()).toBe('waiting');
      await passTime();
      await deliver();
      await takeOthers(sampled({ quick: 1, deep: 3 }));
    }
    // Each of the nine waits had one early attempt, except the first, which ends before a success.
    expect([tries(), await state()]).toEqual([10 + 8, 'failed']);
  }, 60_000);

  it('answers 429 with Retry-After is not called before that time, even if a call already under way succeeds', async () => {
    const { received, answers, deliver } = await startReceivers(stores.first);
    const subscription = await subscribe('a');
    const held: ServerResponse[] = [];
    answers.set('a.hooks.example', (_, response, nth) => {
      if (nth === 0) held.push(response);
      else response.writeHead(nth === 1 ? 429 : 204, { 'retry-after': '600' }).end();
    });
    await commit(2);
    await untilTold();
    const delivering = deliver();
    await until(async () => (await secondsToWait()) > 500);
    held[0]?.writeHead(204).end();
    await delivering;
    expect(await find(subscription)).toMatchObject({ failingSinceMs: null, waiting: 1 });
    expect(await secondsToWait()).toBeGreaterThan(500);
    // It does not count as late either, since the wait is not the endpoint's fault.
    await runSql(stores.url, 'update event_deliveries set next_attempt_at = svc_now()');
    expect((await stores.first.eventDeliveries.describeQueue(false)).dueSinceMs).toBeNull();
    await passTime();
    await deliver();
    expect(received).toHaveLength(3);
    expect(await secondsToWait()).toBeLessThan(1);
    expect(await find(subscription)).toMatchObject({ waiting: 0 });
  });

  const waits: [status: number, header: string | (() => string), seconds: number][] = [
    [503, '120', 120],
    [429, () => new Date(Date.now() + 600_000).toUTCString(), 600],
    [503, '9999999', RETRY_SECONDS.at(-1) ?? 0],
  ];
  it.each(sampleOf(waits, 2))(
    "answers %d with Retry-After is not called before that time, nor later than the schedule's longest wait",
    async (status, header, seconds) => {
      const { received, answers, deliver } = await startReceivers(stores.first);
      const subscription = await subscribe('a');
      const retryAfter = () => (typeof header === 'string' ? header : header());
      answers.set('a.hooks.example', (_, response) =>
        response.writeHead(status, { 'retry-after': retryAfter() }).end(),
      );
      await commit(1);
      await untilTold();
      await deliver();
      const [delivery] = await deliveriesOf(subscription);
      const wait = ((delivery?.nextAttemptAtMs ?? 0) - (delivery?.lastAttemptAtMs ?? 0)) / 1000;
      expect(Math.abs(wait - seconds)).toBeLessThan(60);
      // No other delivery goes before that either.
      const notBefore = `select extract(epoch from not_before - failing_since)::float8 as s from event_subscriptions`;
      const [row] = await runSql<{ s: number }>(stores.url, notBefore);
      expect(Math.abs((row?.s ?? 0) - seconds)).toBeLessThan(60);
      expect(received).toHaveLength(1);
    },
  );

  it('answers 500 with Retry-After is called again by the schedule', async () => {
    const { answers, deliver } = await startReceivers(stores.first);
    const subscription = await subscribe('a');
    answers.set('a.hooks.example', (_, response) => response.writeHead(500, { 'retry-after': '3600' }).end());
    await commit(1);
    await untilTold();
    await deliver();
    const [delivery] = await deliveriesOf(subscription);
    const wait = ((delivery?.nextAttemptAtMs ?? 0) - (delivery?.lastAttemptAtMs ?? 0)) / 1000;
    expect(wait).toBeLessThanOrEqual(5.01);
  });

  it('answers 410 is disabled at once', async () => {
    const { answers, deliver, logged } = await startReceivers(stores.first);
    const subscription = await subscribe('a');
    answers.set('a.hooks.example', (_, response) => response.writeHead(410).end());
    await commit(2);
    await untilTold();
    await deliver();
    expect(await find(subscription)).toMatchObject({ disabledBecause: 'gone' });
    expect(logged.length).toBeGreaterThanOrEqual(1);
  });

  it('redirects fails, and the redirect is not followed', async () => {
    const { received, answers, deliver } = await startReceivers(stores.first);
    const subscription = await subscribe('a');
    const location = 'https://b.hooks.example/';
    answers.set('a.hooks.example', (_, response) => response.writeHead(307, { location }).end());
    await commit(1);
    await untilTold();
    await deliver();
    expect(received.map(({ host }) => host)).toEqual(['a.hooks.example']);
    const [delivery] = await deliveriesOf(subscription);
    expect(delivery).toMatchObject({ state: 'waiting', lastStatus: 307 });
    expect(delivery?.lastProblem).toContain('redirects are not followed');
  });

  it('answers 200 with a body of 1 GB has accepted the event, and the body is not read to its end', async () => {
    const { answers, deliver } = await startReceivers(stores.first);
    const subscription = await subscribe('a');
    let sent = 0;
    const cut = new Promise<void>((resolve) => {
      answers.set('a.hooks.example', (_, response) => {
        const chunk = Buffer.alloc(1_048_576);
        response.writeHead(200, { 'content-length': String(1_073_741_824) });
        const more = (): void => {
          while (sent < 1_073_741_824 && response.write(chunk)) sent += chunk.length;
        };
        response.on('drain', more).on('close', resolve);
        more();
      });
    });
    await commit(1);
    await untilTold();
    await deliver();
    await cut;
    expect(sent).toBeLessThan(64 * 1_048_576);
    expect(await deliveriesOf(subscription)).toMatchObject([{ state: 'delivered', lastStatus: 200 }]);
  });

  it('never answers fails at the deadline, and meanwhile events for other endpoints arrive', async () => {
    const { received, answers, deps } = await startReceivers(stores.first, 2_000);
    const silent = await subscribe('silent');
    const slow = await subscribe('slow');
    const healthy = await subscribe('healthy');
    answers.set('silent.hooks.example', () => {});
    const slowly: (() => void)[] = [];
    answers.set('slow.hooks.example', (_, response) => void slowly.push(() => response.writeHead(200).end()));
    await commit(40);
    await untilTold();
    const deliverer = startEventDeliverer(deps);
    await until(() => received.filter(({ host }) => host === 'healthy.hooks.example').length >= 40);
    // Neither of the two others has been answered yet.
    expect(await find(silent)).toMatchObject({ waiting: 40 });
    expect(await find(slow)).toMatchObject({ waiting: 40 });
    answers.delete('slow.hooks.example');
    for (const answer of slowly) answer();
    await until(async () => (await find(slow))?.waiting === 0);
    await until(async () => (await find(silent))?.failingSinceMs != null);
    expect((await deliveriesOf(silent)).map(({ lastProblem }) => lastProblem)).toContain(
      'no complete answer within 2000 ms',
    );
    expect((await find(healthy))?.waiting).toBe(0);
    await deliverer.stop();
  }, 60_000);

  it('is a host of the service, or resolves to a loopback address, is never connected to', async () => {
    const { received, deliver } = await startReceivers(stores.first);
    const inside = await subscribe('inside');
    await runSql(stores.url, `update event_subscriptions set url = $1`, ['https://inside.hooks.example/']);
    const own = await subscribe('own');
    await runSql(stores.url, `update event_subscriptions set url = $2 where subscription_id = $1`, [
      own.subscriptionId,
      'https://svc.example/',
    ]);
    await commit(1);
    await untilTold();
    await deliver();
    expect(received).toEqual([]);
    expect(await deliveriesOf(inside)).toMatchObject([
      { lastStatus: null, lastProblem: expect.stringContaining('not public (loopback)') },
    ]);
    expect(await deliveriesOf(own)).toMatchObject([{ lastProblem: 'a host of the service itself' }]);
  });
});

it('a wanted event behind more unwanted events than are read at once is sent in the same call', async () => {
  const { received, deliver } = await startReceivers(stores.first);
  await subscribe('a');
  await runSql(
    stores.url,
    `insert into event_log (event_id, audience, type, occurred_at, data)
     select 'evt_' || i, 'rp ' || $1, case when i > 2500 then 'grant.revoked' else 'outcome.reported' end, svc_now(), '{}'
     from generate_series(1, 2501) as i`,
    [world.relyingParty.did],
  );
  await deliver();
  expect(received).toHaveLength(1);
});

describe('a subscription whose deliveries cannot be opened', () => {
  it('does not delay other subscriptions, and is logged', async () => {
    const { received, deps, logged } = await startReceivers(stores.first);
    const broken = await subscribe('broken');
    await subscribe('healthy');
    await commit(3);
    await untilTold();
    const open: EventDeliveryRepository['open'] = (id, window) =>
      id === broken.subscriptionId
        ? Promise.reject(new Error('canceling statement'))
        : stores.first.eventDeliveries.open(id, window);
    const deliverer = startEventDeliverer({
      ...deps,
      eventDeliveries: { ...stores.first.eventDeliveries, open },
    });
    await until(() => received.length === 3);
    await deliverer.stop();
    expect(new Set(received.map(({ host }) => host))).toEqual(new Set(['healthy.hooks.example']));
    expect(logged[0]).toContain(`webhook.not_opened {"subscription_id":"${broken.subscriptionId}"`);
  }, 60_000);

  it('still gets the deliveries that are already open', async () => {
    const { received, deps } = await startReceivers(stores.first);
    const { subscriptionId } = await subscribe('a');
    await commit(3);
    await untilTold();
    await stores.first.eventDeliveries.open(subscriptionId, 1_000);
    await commit(1);
    await untilTold();
    let release = () => {};
    const nothing = { opened: 0, hasMore: false };
    const open = () => new Promise<typeof nothing>((resolve) => (release = () => resolve(nothing)));
    const deliverer = startEventDeliverer({
      ...deps,
      eventDeliveries: { ...stores.first.eventDeliveries, open },
    });
    await until(() => received.length === 3);
    release();
    await deliverer.stop();
  }, 60_000);
});

describe('a revocation whose verifiers cannot be looked up', () => {
  it('delays neither the events of others nor the next Principal, and is logged', async () => {
    const { received, deps, logged } = await startReceivers(stores.first);
    await subscribe('a');
    await commit(2);
    const asked: string[] = [];
    const revocationNotices: RevocationNoticeRepository = {
      nextToTell: async (after) =>
        after === 'did:web:a.example' ? 'did:web:b.example' : 'did:web:a.example',
      tellVerifiers: async (principal) => {
        asked.push(principal);
        throw new Error('canceling statement');
      },
    };
    const deliverer = startEventDeliverer({ ...deps, revocationNotices });
    while (received.length < 2 || asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await deliverer.stop();
    expect(asked.slice(0, 2)).toEqual(['did:web:a.example', 'did:web:b.example']);
    expect(logged[0]).toBe(
      'webhook.verifiers_not_told {"principal":"did:web:a.example","reason":"canceling statement"}',
    );
  }, 60_000);
});

describe('events of one Grant', () => {
  it('arrive in order, each after the previous one was accepted, and meanwhile events of others pass them', async () => {
    const { received, answers, deliver } = await startReceivers(stores.first);
    await subscribe('a');
    const grant = await insertGrant(world);
    const [inOrder, other] = [[deny(grant.id), deny(grant.id), deny(grant.id)], deny()];
    const eventOf = ({ receiptId }: ReturnType<typeof deny>) => `evt_${receiptId.slice(4)}`;
    const ids = inOrder.map(eventOf);
    let fails = true;
    answers.set('a.hooks.example', (request, response) =>
      response.writeHead(fails && request.headers['webhook-id'] === ids[0] ? 500 : 200).end(),
    );
    await stores.first.verify.commitDecisions([...inOrder, other]);
    await untilTold();
    for (let pass = 0; pass < 2; pass++) {
      await deliver();
      await passTime();
    }
    expect(new Set(received.map(idOf))).toEqual(new Set([ids[0], eventOf(other)]));
    fails = false;
    received.length = 0;
    await deliver();
    await passTime();
    await deliver();
    expect(received.map(idOf)).toEqual(ids);
  });
});

it('two deliverers at once deliver each event once', async () => {
  const one = await startReceivers(stores.first);
  const subscription = await subscribe('a');
  await commit(60);
  await untilTold();
  await Promise.all([one.deliver(), one.deliver()]);
  await one.deliver();
  expect(new Set(one.received.map(idOf)).size).toBe(60);
  expect(one.received.length).toBe(60);
  expect((await find(subscription))?.waiting).toBe(0);
});
