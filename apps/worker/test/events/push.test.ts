/**
 * SETs reach the endpoints of pushed streams (RFC 8935): each in its form, in order, repeated if it was not accepted,
 * and sent nowhere else.
 */
import { createPublicKey, randomBytes, verify } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { startEventDeliverer } from '@svc/process';
import { encodeUlid } from '@svc/protocol';
import { type EventAudience, type EventType, reasonOf, sealAuthorization } from '@svc/service';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { createWorld, denyCommit, insertGrant, type World } from '@svc/testkit/store/world';
import { until } from '@svc/testkit/until';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, type Received, secrets, startReceivers, statusKey } from './receiver.ts';

const stores = withStores();
const HEADER = 'Bearer a-header-of-the-receiver';
const URI = 'https://schemas.openid.net/secevent';
let world: World;
let audience: EventAudience;

beforeEach(async () => {
  await runSql(stores.url, 'truncate event_subscriptions, event_outbox, event_log cascade');
  world = await createWorld(stores.first);
  audience = `rp ${world.relyingParty.did}`;
});

const urlOf = (host: string) => `https://${host}.hooks.example/sets`;
const pushTo = (streamId: string, url: string, header: string | null = HEADER) => ({
  method: 'push' as const,
  url,
  authorization:
    header === null ? null : sealAuthorization(secrets, { streamId, url }, header, randomBytes(12)),
});
const TYPES: readonly EventType[] = ['decision.deny', 'decision.allow', 'grant.revoked'];
interface StreamOptions {
  readonly header?: string | null;
  readonly types?: readonly EventType[];
  readonly of?: EventAudience;
}
const openStream = (host: string, { header, types = TYPES, of = audience }: StreamOptions = {}) => {
  const streamId = `ssf_${encodeUlid(Date.now(), randomBytes(10))}`;
  const delivery = pushTo(streamId, urlOf(host), header);
  const wishes = { requested: [], types, description: null, delivery };
  return stores.first.transaction((tx) =>
    tx.streams.insert({ streamId, audience: of, createdBy: null, ...wishes }),
  );
};
type Stream = Awaited<ReturnType<typeof openStream>>;
const change = ({ streamId, requested, types, description, delivery }: Stream, wishes: Partial<Stream>) =>
  stores.first.transaction((tx) =>
    tx.streams.update(streamId, { requested, types, description, delivery, ...wishes }),
  );

const deny = (grantId: string | null = null) =>
  denyCommit(world, { grantId: grantId as never, principal: grantId === null ? null : world.principal.did });
const untilTold = async () => {
  while ((await runSql(stores.url, 'select from event_outbox limit 1')).length > 0)
    await stores.first.eventLog.sequence(10_000);
};
/** Stores decisions whose events are in the log, and returns the events. */
const tell = async (count: number, grantId: string | null = null) => {
  const decisions = Array.from({ length: count }, () => deny(grantId));
  await stores.first.verify.commitDecisions(decisions);
  await untilTold();
  return decisions.map(({ receiptId }) => `evt_${receiptId.slice(4)}`);
};
const passTime = () =>
  runSql(
    stores.url,
    `with d as (update event_deliveries set next_attempt_at = svc_now(), taken_until = null where state = 'waiting'),
     n as (update event_due set look_at = svc_now(), noted = default)
     update event_subscriptions set not_before = svc_now()`,
  );
const statusOf = async ({ streamId }: Stream) => {
  const found = await stores.first.streams.find(audience, streamId);
  return found && { status: found.status, reason: reasonOf(found) };
};
const deliveriesOf = ({ streamId }: Stream) =>
  stores.first.eventDeliveries.list(streamId, { beforePosition: undefined, limit: 100 });

const partOf = (set: string, part: number) =>
  JSON.parse(Buffer.from(set.split('.')[part] ?? '', 'base64url').toString()) as Record<string, unknown>;
const claimsOf = ({ body }: Received) => partOf(body, 1);
const isSigned = (set: string) => {
  const [header, claims, signature = ''] = set.split('.');
  const key = createPublicKey(statusKey.publicKey.export({ format: 'pem', type: 'spki' }));
  return verify(null, Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'));
};
const accept: Answer = (_, response) => response.writeHead(202).end();
const saying =
  (status: number, body: string): Answer =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
/** By default all hosts accept. */
const start = async (timeoutMs?: number) => {
  const receivers = await startReceivers(stores.first, timeoutMs);
  for (const host of ['a', 'b', 'healthy']) receivers.answers.set(`${host}.hooks.example`, accept);
  return receivers;
};

describe('a pushed SET', () => {
  it("is one POST with the SET media type, Accept and the receiver's Authorization, and is not repeated once accepted", async () => {
    const { received, deliver } = await start();
    const stream = await openStream('a');
    const [id] = await tell(1);
    await deliver();
    const [one] = received as [Received];
    expect(received).toHaveLength(1);
    expect(one.headers).toMatchObject({
      'content-type': 'application/secevent+jwt',
      accept: 'application/json',
      authorization: HEADER,
    });
    expect(Object.keys(one.headers).filter((name) => name.startsWith('webhook'))).toEqual([]);
    expect(one.body).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(partOf(one.body, 0)).toEqual({ alg: 'EdDSA', typ: 'secevent+jwt', kid: 'status-1' });
    expect(isSigned(one.body)).toBe(true);
    expect(claimsOf(one)).toMatchObject({
      iss: 'https://svc.example',
      aud: world.relyingParty.did,
      jti: `${id}.${stream.streamId}`,
      txn: id,
    });
    expect(await deliveriesOf(stream)).toMatchObject([{ state: 'delivered', attempts: 1, lastStatus: 202 }]);
    await passTime();
    await deliver();
    expect(received).toHaveLength(1);
  });

  it('has no Authorization header if the stream has none', async () => {
    const { received, deliver } = await start();
    await openStream('a', { header: null });
    await tell(1);
    await deliver();
    expect(received[0]?.headers).not.toHaveProperty('authorization');
  });

  it('is sent for a verification event too, with its state', async () => {
    const { received, deliver } = await start();
    const { streamId } = await openStream('a');
    await stores.first.transaction((tx) => tx.streams.verify(streamId, 'a-state', 30));
    await untilTold();
    await deliver();
    expect(received.map(claimsOf)).toMatchObject([
      {
        sub_id: { format: 'opaque', id: streamId },
        events: { [`${URI}/ssf/event-type/verification`]: { state: 'a-state' } },
      },
    ]);
  });

  it('waits while its Authorization has no root or is sealed for another URL; no log line has the header', async () => {
    const { received, deliver, logged } = await start();
    const stream = await openStream('a');
    await tell(2);
    await runSql(stores.url, `update event_streams set authorization_root = 'gone'`);
    await deliver();
    await runSql(stores.url, 'update event_streams set authorization_root = $1', [secrets.current]);
    await runSql(stores.url, 'update event_subscriptions set url = $1', [urlOf('b')]);
    await passTime();
    await deliver();
    expect(received).toEqual([]);
    expect(logged.map((line) => line.split(' ')[0])).toEqual(['webhook.not_signed', 'webhook.not_signed']);
    expect(logged.join()).not.toContain('a-header-of');
    expect(await statusOf(stream)).toMatchObject({ status: 'enabled' });
  });

  it('is not taken by a worker that pushes no streams, nor by a worker of the previous version', async () => {
    const { received, deps } = await start();
    const stream = await openStream('a');
    await tell(1);
    await stores.first.eventDeliveries.open(stream.streamId, 10);
    const bounds = { atOnce: 10, ofTenant: 10, underWay: { newcomers: 0, others: 0 }, forSeconds: 60 };
    expect(await stores.first.eventDeliveries.take(10, { ...bounds, pushes: false })).toEqual([]);
    expect(await runSql(stores.url, `select from svc_take_due(10, 10, 10, interval '1 minute')`)).toEqual([]);
    expect(await runSql(stores.url, `select from svc_take_deliveries(10, 10, interval '1 minute')`)).toEqual(
      [],
    );
    expect(await stores.first.eventDeliveries.take(10, { ...bounds, pushes: true })).toHaveLength(1);
    expect([received, deps.pushes]).toEqual([[], true]);
  });
});

describe('a push endpoint', () => {
  const attempt = async (answer: Answer) => {
    const receivers = await start();
    receivers.answers.set('a.hooks.example', answer);
    const stream = await openStream('a');
    await tell(1);
    await receivers.deliver();
    const [delivery] = await deliveriesOf(stream);
    return { ...receivers, stream, delivery };
  };

  const words: [err: string, state: string][] = [
    ['invalid_request', 'failed'],
    ['invalid_issuer', 'failed'],
    ['invalid_audience', 'failed'],
    ['invalid_key', 'waiting'],
    ['authentication_failed', 'waiting'],
    ['access_denied', 'waiting'],
    ['of_its_own', 'waiting'],
  ];
  it.each(sampleOf(words, 3))(
    'that answers 400 with err %s: err and description are stored, and the SET is %s',
    async (err, state) => {
      const { delivery } = await attempt(saying(400, JSON.stringify({ err, description: 'As it says.' })));
      expect(delivery).toMatchObject({
        state,
        attempts: 1,
        lastStatus: 400,
        lastProblem: `refused: ${err} As it says.`,
      });
    },
  );

  const statuses: [status: number, problem: string][] = [
    [200, 'answered 200: 202 is expected'],
    [204, 'answered 204: 202 is expected'],
    [307, 'answered 307: redirects are not followed, name the new address'],
    [401, 'answered 401: 202 is expected'],
    [500, 'answered 500: 202 is expected'],
  ];
  it.each(sampleOf(statuses, 3))(
    'that answers %d has not accepted the SET, and gets the same SET again',
    async (status, problem) => {
      const { received, answers, deliver, delivery, stream } = await attempt((_, response) =>
        response.writeHead(status, { location: urlOf('b') }).end(),
      );
      expect(delivery).toMatchObject({ state: 'waiting', lastStatus: status, lastProblem: problem });
      answers.set('a.hooks.example', accept);
      await passTime();
      await deliver();
      expect(received.map(({ host }) => host)).toEqual(['a.hooks.example', 'a.hooks.example']);
      expect(received[1]?.body).toBe(received[0]?.body);
      expect(await deliveriesOf(stream)).toMatchObject([{ state: 'delivered', attempts: 2 }]);
    },
  );

  const bodies: [what: string, body: string][] = [
    ['not JSON', '<html>'],
    ['a list', '[]'],
    ['null', 'null'],
    ['an object whose err is not a string', '{"err":{}}'],
    ['longer than what is read', JSON.stringify({ err: 'invalid_request', description: 'x'.repeat(10_000) })],
  ];
  it.each(sampleOf(bodies, 2))(
    'that answers 400 with a body that is %s is handled as if it had sent no err: the SET waits',
    async (_, body) => {
      const { delivery } = await attempt(saying(400, body));
      expect(delivery).toMatchObject({ state: 'waiting', lastProblem: 'answered 400: 202 is expected' });
    },
  );

  it('that repeats its Authorization in a 400: the header is masked where it is stored, and is not logged', async () => {
    const repeating: Answer = (request, response) =>
      saying(
        400,
        JSON.stringify({
          err: request.headers.authorization,
          description: `${HEADER}\u0000${HEADER.slice(7)}`,
        }),
      )(request, response, 0);
    const { delivery, logged } = await attempt(repeating);
    expect(delivery?.lastProblem).toBe('refused: [authorization] [authorization]');
    expect(logged.join()).not.toContain('a-header-of');
  });

  it('that repeats parts of the header that also occur in the mask: the stored problem is no longer than others', async () => {
    const header = 'authoriz [[[[[[[[ '.repeat(200).trim();
    const description = 'authorization'.repeat(60);
    const receivers = await start();
    receivers.answers.set(
      'a.hooks.example',
      saying(400, JSON.stringify({ err: 'invalid_key', description })),
    );
    const stream = await openStream('a', { header });
    await tell(1);
    await receivers.deliver();
    expect(await deliveriesOf(stream)).toMatchObject([
      { state: 'waiting', lastProblem: 'refused: invalid_key [authorization]' },
    ]);
  });

  it.each(sampleOf([202, 400], 1))(
    'that answers %d with a body of 1 GB is not read to the end',
    async (status) => {
      let sent = 0;
      const { delivery } = await attempt((_, response) => {
        const chunk = Buffer.alloc(1_048_576);
        response.writeHead(status, { 'content-length': String(1_073_741_824) });
        const more = (): void => {
          while (sent < 1_073_741_824 && response.write(chunk)) sent += chunk.length;
        };
        response.on('drain', more);
        more();
      });
      expect(sent).toBeLessThan(64 * 1_048_576);
      expect(delivery).toMatchObject({ state: status === 202 ? 'delivered' : 'waiting', lastStatus: status });
    },
  );

  it('that answers 410 has its stream paused, which one stream-updated event and the status say', async () => {
    const { received, stream, deliver } = await attempt((_, response) => response.writeHead(410).end());
    const paused = { status: 'paused', reason: 'endpoint_url answered 410' };
    expect(await statusOf(stream)).toEqual(paused);
    expect(received.map(claimsOf)[1]).toMatchObject({
      sub_id: { format: 'opaque', id: stream.streamId },
      events: { [`${URI}/ssf/event-type/stream-updated`]: paused },
    });
    await passTime();
    await deliver();
    expect(received).toHaveLength(2);
  });

  it('that answers 500 for five days has its stream paused with that reason; once enabled, it gets all waiting SETs', async () => {
    const { received, answers, stream, deliver } = await attempt((_, response) =>
      response.writeHead(500).end(),
    );
    await passTime();
    await runSql(
      stores.url,
      `update event_subscriptions set failing_days = 3, failing_since = svc_now() - interval '5 days 1 second'`,
    );
    await deliver();
    const reason = 'no SET was taken for 5 days; answered 500: 202 is expected';
    expect(await statusOf(stream)).toEqual({ status: 'paused', reason });
    const last = received.at(-1) as Received;
    expect(Object.keys(claimsOf(last).events as object)).toEqual([`${URI}/ssf/event-type/stream-updated`]);
    await tell(2);
    answers.set('a.hooks.example', accept);
    received.length = 0;
    await deliver();
    expect(received).toEqual([]);
    await stores.first.transaction((tx) => tx.streams.setStatus(stream.streamId, 'enabled', null));
    await deliver();
    expect(received).toHaveLength(3);
    expect(await statusOf(stream)).toEqual({ status: 'enabled', reason: null });
  });

  // In a sample, delivery.test.ts has a webhook endpoint that never answers.
  it.runIf(isDeep)(
    'that never answers fails at the deadline, and meanwhile SETs for other endpoints arrive',
    async () => {
      const { received, answers, deps } = await start(1_000);
      const silent = await openStream('silent');
      const healthy = await openStream('healthy');
      answers.set('silent.hooks.example', () => {});
      await tell(40);
      const deliverer = startEventDeliverer(deps);
      await until(() => received.filter(({ host }) => host === 'healthy.hooks.example').length >= 40);
      const open = async (stream: Stream) =>
        (await deliveriesOf(stream)).filter(({ state }) => state === 'waiting');
      expect(await open(silent)).toHaveLength(40);
      await until(async () => (await deliveriesOf(silent)).some(({ lastProblem }) => lastProblem !== null));
      await until(async () => (await open(healthy)).length === 0);
      await deliverer.stop();
    },
    60_000,
  );

  it('that has not answered for five days is told that its stream is paused; meanwhile SETs for others arrive', async () => {
    const { received, answers, logged, deps } = await start();
    const unanswered: ServerResponse[] = [];
    for (const host of ['silent-1', 'silent-2']) {
      answers.set(`${host}.hooks.example`, (_, response) => void unanswered.push(response));
      await openStream(host);
    }
    await runSql(
      stores.url,
      `update event_subscriptions set failing_days = 3, failing_since = svc_now() - interval '6 days'`,
    );
    const deliverer = startEventDeliverer(deps);
    await until(() => unanswered.length === 2);
    expect(logged.map((line) => line.split(' ')[0])).toEqual(['webhook.disabled', 'webhook.disabled']);
    const other = await createWorld(stores.first);
    await openStream('healthy', { of: `rp ${other.relyingParty.did}` });
    await stores.first.verify.commitDecisions([denyCommit(other)]);
    await until(() => received.some(({ host }) => host === 'healthy.hooks.example'));
    expect(unanswered.map((response) => response.destroyed)).toEqual([false, false]);
    for (const response of unanswered) response.writeHead(202).end();
    await deliverer.stop();
  }, 60_000);

  it('that resolves to a loopback address, or is a host of the service, is never connected to', async () => {
    const { received, deliver } = await start();
    const inside = await openStream('inside');
    const own = await openStream('b', { header: null });
    await runSql(
      stores.url,
      `update event_subscriptions set url = 'https://svc.example/' where subscription_id = $1`,
      [own.streamId],
    );
    await tell(1);
    await deliver();
    expect(received).toEqual([]);
    expect(await deliveriesOf(inside)).toMatchObject([
      { lastProblem: expect.stringContaining('not public (loopback)') },
    ]);
    expect(await deliveriesOf(own)).toMatchObject([{ lastProblem: 'a host of the service itself' }]);
  });
});

describe('SETs of one Grant', () => {
  const idsOf = (received: readonly Received[]) => received.map((one) => claimsOf(one).txn);

  it('arrive in order, each after the previous one was accepted or refused for good', async () => {
    const { received, answers, deliver } = await start();
    await openStream('a');
    const grant = await insertGrant(world);
    const ids = await tell(3, grant.id);
    const refuse = saying(400, JSON.stringify({ err: 'invalid_request' }));
    answers.set('a.hooks.example', (request, response, nth) =>
      [saying(500, ''), refuse, accept, accept][nth]?.(request, response, nth),
    );
    for (let pass = 0; pass < 4; pass++) {
      await deliver();
      await passTime();
    }
    expect(idsOf(received)).toEqual([ids[0], ...ids]);
  });

  it('continue after a SET whose event type is no longer wanted', async () => {
    const { received, deliver } = await start();
    const stream = await openStream('a');
    const grant = await insertGrant(world);
    await tell(1, grant.id);
    await runSql(stores.url, `update event_log set type = 'decision.allow'`);
    const [id] = await tell(1, grant.id);
    await stores.first.eventDeliveries.open(stream.streamId, 10);
    await change(stream, { types: ['decision.deny'] });
    await deliver();
    expect(idsOf(received)).toEqual([id]);
  });

  it('continue after polling ends, and go to the new URL after a change; a 410 from the old URL pauses nothing', async () => {
    const { received, answers, deliver } = await start();
    const stream = await openStream('a');
    const grant = await insertGrant(world);
    await change(stream, { delivery: { method: 'poll' } });
    const ids = await tell(3, grant.id);
    await deliver();
    expect(received).toEqual([]);
    await stores.first.transaction((tx) => tx.streams.settle(stream.streamId, [ids[0] ?? ''], []));
    const there = pushTo(stream.streamId, urlOf('b'));
    // Answers once the stream has another endpoint.
    answers.set('a.hooks.example', (_, response) => {
      void change(stream, { delivery: there }).then(() => response.writeHead(410).end());
    });
    await change(stream, { delivery: stream.delivery });
    await deliver();
    await passTime();
    await deliver();
    expect(received.map(({ host }) => host)).toEqual(['a', 'b', 'b'].map((host) => `${host}.hooks.example`));
    expect(idsOf(received)).toEqual([ids[1], ids[1], ids[2]]);
    expect(await statusOf(stream)).toEqual({ status: 'enabled', reason: null });
  });

  it('are pushed although a poll acknowledged them: a poll settles nothing of a pushed stream', async () => {
    const { received, deliver } = await start();
    const stream = await openStream('a');
    const grant = await insertGrant(world);
    const ids = await tell(2, grant.id);
    await stores.first.eventDeliveries.open(stream.streamId, 10);
    await stores.first.transaction((tx) => tx.streams.settle(stream.streamId, ids, []));
    await deliver();
    expect(idsOf(received)).toEqual(ids);
  });
});

it('a paused stream gets its SETs once it is enabled; events that occur while it is disabled are never sent', async () => {
  const { received, deliver } = await start();
  const stream = await openStream('a');
  const set = (status: 'enabled' | 'paused' | 'disabled') =>
    stores.first.transaction((tx) => tx.streams.setStatus(stream.streamId, status, null));
  await set('paused');
  const [kept] = await tell(1);
  await deliver();
  expect(received).toEqual([]);
  await set('enabled');
  await deliver();
  await set('disabled');
  await tell(1);
  await set('enabled');
  const [after] = await tell(1);
  await deliver();
  expect(received.map((one) => claimsOf(one).txn)).toEqual([kept, after]);
});
