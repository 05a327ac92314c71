import { type Store, StoreError } from '@svc/service';
import { type OwnCluster, startOwnCluster } from '@svc/testkit';
import { createWorld, denyCommit, hashOf, type World } from '@svc/testkit/store/world';
import { until } from '@svc/testkit/until';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStore } from './create-store.ts';

/** The limit for answers that the service promises its callers, with or without an outage. */
const ANSWER_MS = 2_000;

let cluster: OwnCluster;
let store: Store;
let world: World;

beforeAll(async () => {
  cluster = await startOwnCluster({ durable: false });
  store = createStore({ databaseUrl: cluster.url });
  world = await createWorld(store);
}, 60_000);
afterAll(async () => {
  await store.close();
  await cluster.stop();
});

/** Fails where the answer takes longer than callers wait. */
async function inTime<T>(work: Promise<T>, limitMs = ANSWER_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${limitMs} ms`)), limitMs);
  });
  return Promise.race([work, tooLate]).finally(() => clearTimeout(timer));
}

/**
 * Repeats the call until it is answered, since a busy machine may need longer to open a connection than a call waits.
 * Each call ends in time.
 */
const untilAnswered = (call: () => Promise<unknown>): Promise<void> =>
  until(async () => {
    const isAnswered = call().then(
      () => true,
      () => false,
    );
    return inTime(isAnswered);
  });

const untilStored = (): Promise<void> =>
  untilAnswered(async () =>
    expect(await store.verify.commitDecisions([denyCommit(world)])).toEqual(['STORED']),
  );

/**
 * An idle connection is found reset only when it is used. The statement sent on it may have been stored, so the error
 * is ambiguous.
 */
async function untilUnavailable(): Promise<void> {
  const error = await inTime(store.verify.commitDecisions([denyCommit(world)])).catch((reason) => reason);
  if (error instanceof StoreError && error.kind === 'ambiguous') return untilUnavailable();
  expect(error).toMatchObject({ name: 'StoreError', kind: 'unavailable' });
}

const artifact = { hash: hashOf('x'), contentType: 'text/plain', body: Buffer.from('x') };

describe('a server that is stopped', () => {
  it('lets every call fail in time with its error kind, and serves calls again when it continues', async () => {
    await store.now();
    await untilStored();
    // Opens the connection first, since opening takes time of its own.
    await untilAnswered(() => store.revocation.stampRevoked(world.principal.did, [], Date.now()));
    cluster.signal('SIGSTOP');
    try {
      const commit = denyCommit(world);
      await inTime(
        expect(store.verify.commitDecisions([commit])).rejects.toMatchObject({ kind: 'ambiguous' }),
      );
      await inTime(
        Promise.all([
          expect(store.verify.findStored([commit.receiptId])).rejects.toMatchObject({ kind: 'unavailable' }),
          expect(
            store.verify.findFacts([{ issuer: world.principal.did, grantId: null }]),
          ).rejects.toMatchObject({
            kind: 'unavailable',
          }),
          expect(store.now()).rejects.toMatchObject({ kind: 'unavailable' }),
          ...Array.from({ length: 16 }, () =>
            expect(store.verify.commitDecisions([denyCommit(world)])).rejects.toMatchObject({
              kind: 'unavailable',
            }),
          ),
        ]),
      );
      const transaction = store.transaction((tx) => tx.evidence.insert(artifact));
      await Promise.all([
        inTime(
          expect(store.revocation.stampRevoked(world.principal.did, [], Date.now())).rejects.toMatchObject({
            name: 'StoreError',
          }),
          3_000,
        ),
        inTime(expect(transaction).rejects.toMatchObject({ kind: 'unavailable' }), 2_500),
      ]);
    } finally {
      cluster.signal('SIGCONT');
    }
    await untilStored();
    await untilAnswered(() => store.now());
    await untilAnswered(() => store.transaction((tx) => tx.evidence.insert(artifact)));
  });
});

describe('a server that is killed', () => {
  it('makes calls fail at once and then unavailable, and the same store serves again after its restart', async () => {
    await untilStored();
    cluster.signal('SIGKILL');
    await inTime(
      Promise.all([
        expect(store.verify.commitDecisions([denyCommit(world)])).rejects.toMatchObject({
          name: 'StoreError',
        }),
        expect(store.now()).rejects.toMatchObject({ name: 'StoreError' }),
      ]),
    );
    await untilUnavailable();
    await cluster.restart();
    await untilStored();
    await untilAnswered(() => store.now());
  });
});
