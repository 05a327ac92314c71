/** The worker process and events: no event is lost when the worker ends, and it reports where it cannot deliver. */
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { encodeUlid } from '@svc/protocol';
import { type EventAudience, type Store, sealAuthorization } from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { isDeep, sampled, sampleOf } from '@svc/testkit/sampled';
import { insertSubscription } from '@svc/testkit/store/events';
import { openStore } from '@svc/testkit/store/open-store';
import { runSql, untilAlone } from '@svc/testkit/store/session';
import { createWorld, denyCommit } from '@svc/testkit/store/world';
import { beforeEach, expect, it } from 'vitest';
import { runOnce, startWorker, type WorkerProcess } from '../harness.ts';
import { ROOT, secrets } from './receiver.ts';

const database = withDatabase();
/** Closed before a worker is killed, so that only sessions of the killed worker remain. */
let store: Store;
beforeEach(() => {
  store = openStore(database.url);
});

it('a worker without SVC_WEBHOOK_KEYS logs that nothing is sent, if there is a subscription', async () => {
  const options = { databaseUrl: database.url, hosts: {} };
  const { relyingParty } = await createWorld(store);
  const says = async () => (await runOnce(options)).filter((line) => line.includes('webhook.no_root')).length;
  if (isDeep) expect(await says()).toBe(0);
  await insertSubscription(store, `rp ${relyingParty.did}`, ['decision.deny']);
  expect(await says()).toBe(1);
  await store.close();
});

/** The `txn` of a SET. */
const txnOf = (set: string): unknown =>
  JSON.parse(Buffer.from(set.split('.')[1] ?? '', 'base64url').toString()).txn;

const insertStream = (audience: EventAudience) => {
  const streamId = `ssf_${encodeUlid(Date.now(), randomBytes(10))}`;
  const url = 'https://hooks.example/svc';
  const authorization = sealAuthorization(
    secrets,
    { streamId, url },
    'Bearer of-a-receiver',
    randomBytes(12),
  );
  const delivery = { method: 'push', url, authorization } as const;
  const wishes = { requested: [], types: ['decision.deny'], description: null, delivery } as const;
  return store.transaction((tx) => tx.streams.insert({ streamId, audience, createdBy: null, ...wishes }));
};

/** Answers some requests at once, and holds the others until they are released or their sender is gone. */
const startReceiver = async () => {
  const bodies = new Map<string, Set<string>>();
  const taken = new Set<string>();
  const held = new Set<ServerResponse>();
  const events = new EventEmitter();
  let count = 0;
  let holds = true;
  const take = (id: string, response: ServerResponse) => {
    taken.add(id);
    response.writeHead(202).end();
    events.emit('changed');
  };
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => null);
    if (body === null) return;
    const id = String(request.headers['webhook-id'] ?? txnOf(body));
    bodies.set(id, (bodies.get(id) ?? new Set()).add(body));
    count += 1;
    if (!holds || count % 3 === 0) return take(id, response);
    held.add(response);
    events.emit('changed');
    response.on('close', () => {
      held.delete(response);
      events.emit('changed');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    events,
    url: `http://127.0.0.1:${port}`,
    bodies,
    taken,
    held,
    holdNoMore: () => {
      holds = false;
    },
    close: () => void server.close(),
  };
};

const KILLS = sampled({ quick: 1, deep: 40 });
it.each(sampleOf(['webhook', 'push'], 1))(
  `a worker killed ${KILLS} times with deliveries by %s under way delivers each event under one id and with one body`,
  async (method) => {
    await runSql(database.url, 'truncate event_subscriptions, event_outbox, event_log cascade');
    const world = await createWorld(store);
    const audience: EventAudience = `rp ${world.relyingParty.did}`;
    await (method === 'push'
      ? insertStream(audience)
      : insertSubscription(store, audience, ['decision.deny']));
    await runSql(database.url, 'update event_secrets set root = $1', [secrets.current]);
    const decisions = Array.from({ length: 30 + 10 * KILLS }, () => denyCommit(world));
    await store.verify.commitDecisions(decisions);
    await store.close();
    const receiver = await startReceiver();
    const start = () =>
      startWorker({
        databaseUrl: database.url,
        hosts: { 'hooks.example': receiver.url },
        env: { SVC_WEBHOOK_KEYS: ROOT, SVC_SSF: '1' },
      });
    const until = async (worker: WorkerProcess, holds: () => boolean) => {
      const ended = worker.ended.then(() => {
        throw new Error(worker.log.join('\n'));
      });
      while (!holds()) await Promise.race([once(receiver.events, 'changed'), ended]);
      ended.catch(() => {});
    };
    for (let kill = 0; kill < KILLS; kill++) {
      const takenBefore = receiver.taken.size;
      const worker = start();
      await until(worker, () => receiver.held.size >= 5 && receiver.taken.size > takenBefore);
      worker.signal('SIGKILL');
      await worker.ended;
      while (receiver.held.size > 0) await once(receiver.events, 'changed');
      await untilAlone(database.url);
      // Simulates that its leases have expired.
      await runSql(database.url, 'update event_deliveries set taken_until = null');
    }
    receiver.holdNoMore();
    const last = start();
    const ids = decisions.map(({ receiptId }) => `evt_${receiptId.slice(4)}`);
    const done = `select count(*)::integer as count from event_deliveries where state = 'delivered'`;
    const countDone = async () => (await runSql<{ count: number }>(database.url, done))[0]?.count;
    while ((await countDone()) !== ids.length)
      if (await Promise.race([last.ended.then(() => true), runSql(database.url, 'select').then(() => false)]))
        throw new Error(last.log.join('\n'));
    expect(await last.stop()).toBe(0);
    expect([...receiver.taken].sort()).toEqual(ids.toSorted());
    expect([...receiver.bodies.values()].filter(({ size }) => size !== 1)).toEqual([]);
    receiver.close();
  },
  600_000,
);
