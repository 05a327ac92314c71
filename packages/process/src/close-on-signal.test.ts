/** A process ends on a signal, whatever happened to the reader of its log. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { withSourceProgram } from '@svc/testkit/process/source-program';
import { afterEach, expect, it } from 'vitest';

const source = withSourceProgram({
  text: `
  import { closeOnSignal } from './close-on-signal.ts';
  import { createLogger } from './logger.ts';
  const logger = createLogger('info');
  closeOnSignal(async () => {}, logger);
  for (let line = 0; line < Number(process.argv[2]); line++) logger.info({ filler: 'x'.repeat(1000) }, 'line');
  setInterval(() => {}, 1000);
  process.stderr.write('ready');
`,
  folder: import.meta.dirname,
});

let program: ChildProcessByStdio<null, Readable, Readable>;
afterEach(() => program.kill('SIGKILL'));

const start = async (lines: number): Promise<void> => {
  program = spawn(process.execPath, [source(), `${lines}`], { stdio: ['ignore', 'pipe', 'pipe'] });
  await once(program.stderr, 'data');
};

const end = async (): Promise<unknown[]> => {
  program.kill('SIGTERM');
  return once(program, 'exit');
};

it('a process whose log is read writes all its lines before it ends on SIGTERM', async () => {
  await start(500);
  const log = text(program.stdout);
  expect(await end()).toEqual([0, null]);
  const messages = (await log)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).msg as string);
  expect(messages).toEqual([...Array(500).fill('line'), 'stopping', 'stopped']);
}, 30_000);

it('a process whose log reader is gone ends on SIGTERM', async () => {
  await start(0);
  program.stdout.destroy();
  expect(await end()).toEqual([0, null]);
}, 30_000);

it('a process whose log reader has stopped reading ends on SIGTERM', async () => {
  await start(2_000);
  expect(await end()).toEqual([0, null]);
}, 30_000);
