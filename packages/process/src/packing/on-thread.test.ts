/** What becomes of a day whose thread fails: the process that started it goes on, and learns why. */
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

it('a day that does not fit into the heap of its thread fails alone, and the next one is packed', async () => {
  const hungry = 'const kept = []; for (;;) kept.push(new Array(100_000).fill(kept.length));';
  await expect(pack(hungry)).rejects.toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
  expect(await pack(answer({ ok: true, value: 'packed' }))).toBe('packed');
});

it('a thread that ends without an answer has packed nothing', async () => {
  await expect(pack('process.exit(0);')).rejects.toThrow('ended without an answer');
});

it('a stop ends it wherever it is', async () => {
  const stop = new AbortController();
  const packing = pack('for (;;);', stop.signal);
  const reason = new Error('stopped');
  stop.abort(reason);
  await expect(packing).rejects.toBe(reason);
  await expect(pack(answer({ ok: true, value: 'packed' }), stop.signal)).rejects.toBe(reason);
});

it('a fault of storage is told as what it is', async () => {
  const fault = { ok: false, name: 'StoreError', kind: 'unavailable', message: 'no answer' };
  await expect(pack(answer(fault))).rejects.toSatisfy(
    (error) => error instanceof StoreError && error.kind === 'unavailable' && error.message === 'no answer',
  );
});
