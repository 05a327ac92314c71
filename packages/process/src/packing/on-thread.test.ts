/** A day whose thread fails: the process that started the thread goes on, and gets the reason. */
import { filePlaces } from '@svc/object-store';
import { StoreError } from '@svc/service';
import { expect, it } from 'vitest';
import { workOnThread } from './on-thread.ts';

const PLACES = { databaseUrl: 'postgres://none', place: '/none', endpoint: null };
const DAY = '2026-11-01';

/** Packs a day on a thread that runs this program instead. */
const pack = (program: string, stop: AbortSignal = new AbortController().signal): Promise<unknown> =>
  workOnThread(new URL(`data:text/javascript,${encodeURIComponent(program)}`), PLACES).pack(DAY, stop);

const answer = (outcome: object): string =>
  `import { parentPort } from 'node:worker_threads'; parentPort.postMessage(${JSON.stringify(outcome)});`;

/** Takes a place for files, as a thread does that works on them. */
const keeps = (place: number) =>
  `new Int32Array(workerData.filePlaces)[${place}] = (await import('node:worker_threads')).threadId + 1;`;

/** A separate program for each of the two threads. */
const both = (write: string, readBack: string): string =>
  `import { parentPort, workerData } from 'node:worker_threads';
   const { objects, what } = workerData.task;
   if (what === 'write') { ${write} } else { ${readBack} }`;
const say = (value: object): string =>
  `parentPort.postMessage({ ok: true, value: ${JSON.stringify(value)} });`;

const none = { receipts: [], attestations: [], consumption_events: [] };
const digests = (digest: string) => ({ ...none, receipts: [{ first: 'drc_1', digest }] });
const proven = { treeSize: 1, root: 'sha256:a', contentRoot: 'sha256:b' };
const good = both(say({ tables: none, stored: digests('a') }), say({ ...proven, found: digests('a') }));

it('a day that exceeds the heap of its thread fails alone, and the next day is packed', async () => {
  const hungry = 'const kept = []; for (;;) kept.push(new Array(100_000).fill(kept.length));';
  await expect(pack(hungry)).rejects.toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
  expect(await pack(good)).toEqual({ ...proven, tables: none, difference: null });
});

it('packing fails if the thread ends without an answer', async () => {
  await expect(pack('process.exit(0);')).rejects.toThrow('ended without an answer');
});

it('a thread that ends while it holds places for files gives them back', async () => {
  const ends = 'process.exit(0);';
  await expect(pack(both(keeps(0) + ends, keeps(1) + ends))).rejects.toThrow('ended without an answer');
  expect([...new Int32Array(filePlaces())]).toEqual([0, 0]);
});

it('an abort signal stops the packing even if the thread never yields, and prevents a later one', async () => {
  const stop = new AbortController();
  const packing = pack('for (;;);', stop.signal);
  const reason = new Error('stopped');
  stop.abort(reason);
  await expect(packing).rejects.toBe(reason);
  await expect(pack(good, stop.signal)).rejects.toBe(reason);
});

it('a StoreError of the thread is passed on with its kind and message', async () => {
  const fault = { ok: false, name: 'StoreError', kind: 'unavailable', message: 'no answer' };
  await expect(pack(answer(fault))).rejects.toSatisfy(
    (error) => error instanceof StoreError && error.kind === 'unavailable' && error.message === 'no answer',
  );
});

it('the threads exchange what is stored, and rows that are read back differently are reported as a difference', async () => {
  const write = `objects.postMessage({ digest: 'b' }); ${say({ tables: none, stored: digests('a') })}`;
  const readBack = `objects.once('message', ({ digest }) => parentPort.postMessage({ ok: true,
    value: ${JSON.stringify({ ...proven, found: digests('DIGEST') }).replace('"DIGEST"', 'digest')} }));`;
  expect(await pack(both(write, readBack))).toMatchObject({ difference: 'receipts from drc_1 on' });
});

it.each([
  ['that stores', (fails: string, waits: string) => both(fails, waits)],
  ['that reads back', (fails: string, waits: string) => both(waits, fails)],
])(
  'if the thread %s fails, the packing fails with its error once the other thread has ended, and the next one succeeds',
  async (_, programOf) => {
    const fault = {
      ok: false,
      name: 'ObjectStoreError',
      kind: 'wrong-bytes',
      message: 'not what was stored',
    };
    const fails = `objects.once('message', () => parentPort.postMessage(${JSON.stringify(fault)}));`;
    const waits = `${keeps(0)} objects.postMessage('begun'); setInterval(() => {}, 1_000);`;
    await expect(pack(programOf(fails, waits))).rejects.toThrow('not what was stored');
    // The place of the other thread is free, and only the end of that thread frees it.
    expect([...new Int32Array(filePlaces())]).toEqual([0, 0]);
    expect(await pack(good)).toMatchObject({ difference: null });
  },
);
