/**
 * `deploy/image/start`, the first process of a container that gives a token its PIN: the PIN is given only once,
 * whatever restarts the container.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { MUST_NOT_RESTART } from './configuration.ts';

const START = fileURLToPath(new URL('../../../deploy/image/start', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'svc-start-'));
const groups: number[] = [];
afterAll(() => {
  for (const group of groups) endGroup(group);
  rmSync(folder, { recursive: true, force: true });
});

/** Ends all processes of the group, as the end of a container does. */
const endGroup = (group: number): void => {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // All processes of the group have ended.
  }
};

const startProgram = (script: string, { marker = join(folder, 'no-folder', 'marker') } = {}) => {
  const child = spawn(START, [marker, 'sh', '-c', script], { detached: true });
  if (child.pid !== undefined) groups.push(child.pid);
  const exited = once(child, 'exit').then(([code, signal]) => signal ?? code);
  return { child, exited };
};

/** Rejects if the stream ends before. */
const said = async (stream: Readable, words: string): Promise<void> => {
  let text = '';
  for await (const part of stream.iterator({ destroyOnReturn: false })) {
    text += part;
    if (text.includes(words)) return;
  }
  throw new Error(`ended without ${words}: ${text}`);
};

const NOT_AGAIN = 'is not started again in this container';
const countingStarts = (file: string) => `echo tried >>'${file}'; exit ${MUST_NOT_RESTART}`;
const startsOf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0);

it.for(['SIGTERM', 'SIGINT'] as const)(
  'after a refused PIN, start says so and waits until %s',
  async (signal) => {
    const starts = join(folder, signal);
    const { child, exited } = startProgram(countingStarts(starts));
    await said(child.stderr, NOT_AGAIN);
    expect(child.exitCode).toBeNull();
    child.kill(signal);
    expect(await exited).toBe(MUST_NOT_RESTART);
    expect(startsOf(starts)).toBe(1);
  },
);

it('a container that is killed and started again makes no second attempt while the marker exists', async () => {
  const [starts, marker] = [join(folder, 'starts'), join(folder, 'marker')];
  for (const end of ['SIGKILL', 'SIGTERM', 'SIGTERM'] as const) {
    const { child, exited } = startProgram(countingStarts(starts), { marker });
    await said(child.stderr, NOT_AGAIN);
    child.kill(end);
    expect(await exited).toBe(end === 'SIGKILL' ? end : MUST_NOT_RESTART);
  }
  expect(startsOf(starts)).toBe(1);
  rmSync(marker);
  const { child, exited } = startProgram(countingStarts(starts), { marker });
  await said(child.stderr, NOT_AGAIN);
  child.kill('SIGTERM');
  await exited;
  expect(startsOf(starts)).toBe(2);
});

it.for([
  ['exit 0', 0],
  ['exit 1', 1],
  ['kill -9 $$', 137],
] as const)('every other exit code is passed on, and no marker is made: %s', async ([script, code]) => {
  const marker = join(folder, `of-${code}`);
  expect(await startProgram(script, { marker }).exited).toBe(code);
  expect(existsSync(marker)).toBe(false);
});

it.for([
  ['SIGTERM', 5],
  ['SIGINT', 6],
] as const)('the program receives HUP and %s, and its exit code is passed on', async ([signal, code]) => {
  // Not a script of `sh`: `start` runs the program in the background, where a shell cannot trap INT.
  const program = `process.on('SIGHUP', () => console.log('hup')).on('SIGTERM', () => process.exit(5))
    .on('SIGINT', () => process.exit(6)); setInterval(() => {}, 60_000); console.log('up');`;
  const script = `exec '${process.execPath}' -e "${program}"`;
  const { child, exited } = startProgram(script);
  await said(child.stdout, 'up');
  for (let told = 0; told < 2; told++) {
    child.kill('SIGHUP');
    await said(child.stdout, 'hup');
  }
  child.kill(signal);
  expect(await exited).toBe(code);
});
