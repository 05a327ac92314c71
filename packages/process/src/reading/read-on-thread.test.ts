/** Reads whose thread fails: they are rejected so that the caller can retry, and the next read succeeds. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FetchedGroup, Wanted } from '@svc/cold-ledger';
import { until } from '@svc/testkit/until';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { type ReadingOptions, type ReadingThread, readOnThread } from './read-on-thread.ts';

const open: ReadingThread[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A thread that runs this program instead, once for each task. */
const threadOf = (onTask: string, options: ReadingOptions = {}): ReadingThread => {
  const program = `import { parentPort } from 'node:worker_threads';
    import { serialize } from 'node:v8';
    import { writeFileSync } from 'node:fs';
    const found = (id, value) =>
      parentPort.postMessage({ id, found: serialize({ count: 0, columns: { value: [value] }, last: null }) });
    parentPort.on('message', ({ id, group, wanted }) => { ${onTask} });`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
  const thread = readOnThread(url, { restMs: 0, ...options });
  open.push(thread);
  return thread;
};

const groupOf = (name: string, bytes = new Uint8Array(3)): FetchedGroup => ({
  ...{ name, byteLength: 5, offset: 0, firstRow: 0, rows: 0 },
  ...{ tail: new Uint8Array(2), tailSha256: '', group: bytes },
});
const ALL: Wanted = {
  ...{ columns: [], jws: 'whole', texts: null, where: [], from: '', after: '', before: '' },
  ...{ most: null, isDescending: false },
};
const told = async (reading: ReturnType<ReadingThread['read']>) => (await reading).open().columns.value?.[0];
const GONE = { name: 'ObjectStoreError', kind: 'unavailable' };

it('each read gets its own result, in whatever order the results arrive', async () => {
  const { read } = threadOf(`
    if (group.name === 'first') globalThis.waiting = id;
    else { found(id, group.name); found(globalThis.waiting, 'first'); }`);
  const reads = [told(read(groupOf('first'), ALL)), told(read(groupOf('second'), ALL))];
  expect(await Promise.all(reads)).toEqual(['first', 'second']);
});

it('a group that cannot be decoded fails alone, with the cause', async () => {
  const { read } = threadOf(
    `if (group.name === 'bad') parentPort.postMessage({ id, problem: 'no Parquet' }); else found(id, group.name);`,
  );
  const [bad, good] = [read(groupOf('bad'), ALL), read(groupOf('good'), ALL)];
  await expect(bad).rejects.toThrow('no Parquet');
  expect(await told(good)).toBe('good');
});

const ENDLESS = 'for (;;);';
it.each([
  ['ends', 'process.exit(0)'],
  ['fails', `throw new Error('broken')`],
  ['exceeds its memory', 'const kept = []; for (;;) kept.push(new Array(100_000).fill(kept.length))'],
  ['does not answer', ENDLESS],
])(
  'if the thread %s, pending reads are unavailable, onEnd is called once, and the next read uses a new thread',
  async (_, fault) => {
    const ends: string[] = [];
    // A thread has to start within this time even on a loaded machine, except in the test that waits for it to pass.
    const answerMs = fault === ENDLESS ? 1_500 : 4_000;
    const options = { answerMs, onEnd: (why: string) => ends.push(why) };
    const { read } = threadOf(`if (group.name === 'bad') { ${fault} } else found(id, group.name);`, options);
    const reads = [read(groupOf('bad'), ALL), read(groupOf('behind'), ALL)];
    for (const one of reads) await expect(one).rejects.toMatchObject(GONE);
    expect(ends).toHaveLength(1);
    expect(await told(read(groupOf('next'), ALL))).toBe('next');
  },
);

it('if the thread cannot be started, reads are unavailable, which is reported once, and no start is tried for a while', async () => {
  const ends: string[] = [];
  const options = { restMs: 600_000, onEnd: (why: string) => ends.push(why) };
  const thread = readOnThread(new URL('file:///nowhere/read-thread.js'), options);
  open.push(thread);
  await expect(thread.read(groupOf('first'), ALL)).rejects.toMatchObject(GONE);
  for (let i = 0; i < 20; i++) await expect(thread.read(groupOf('later'), ALL)).rejects.toMatchObject(GONE);
  expect(ends).toEqual([expect.stringContaining('nowhere')]);
});

it('a process that was stopped for longer than the time limit of a read still gets an answer that has arrived', async () => {
  const sent = join(mkdtempSync(join(tmpdir(), 'svc-read-')), 'sent');
  onTestFinished(() => rmSync(dirname(sent), { recursive: true }));
  const { read } = threadOf(
    `found(id, group.name); if (group.name === 'late') writeFileSync(${JSON.stringify(sent)}, '');`,
    { answerMs: 1_000 },
  );
  // Repeated, since a thread may take longer to start than the time limit of an answer.
  await until(async () => (await told(read(groupOf('first'), ALL)).catch(() => null)) === 'first');
  const reading = read(groupOf('late'), ALL);
  const untilMs = performance.now() + 1_200;
  // Simulates a stopped process: none of its code runs, its timers are due, and the answer has arrived.
  while (performance.now() < untilMs || !existsSync(sent));
  expect(await told(reading)).toBe('late');
});

it("a read passes only the bytes of the group to the thread, and leaves the caller's buffer intact", async () => {
  const buffer = new Uint8Array([1, 2, 3, 4, 5, 6]);
  const { read } = threadOf('found(id, [...new Uint8Array(group.group.buffer)].join());');
  const group = groupOf('part', buffer.subarray(1, 3));
  expect(await told(read(group, ALL))).toBe('2,3');
  expect(await told(read(group, ALL))).toBe('2,3');
  expect([...buffer]).toEqual([1, 2, 3, 4, 5, 6]);
});

it('closing makes pending and later reads unavailable, and reports no fault', async () => {
  const ends: string[] = [];
  const thread = threadOf('', { onEnd: (why) => ends.push(why) });
  const waiting = thread.read(groupOf('waiting'), ALL);
  await Promise.all([expect(waiting).rejects.toMatchObject(GONE), thread.close()]);
  await expect(thread.read(groupOf('late'), ALL)).rejects.toMatchObject(GONE);
  expect(ends).toEqual([]);
});
