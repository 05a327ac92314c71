import { afterEach, expect, it, vi } from 'vitest';
import { exitWith } from './exit-with.ts';

const before = process.exitCode;
const hearing = process.listeners('uncaughtException');
afterEach(() => {
  process.exitCode = before;
  vi.restoreAllMocks();
  process.removeAllListeners('uncaughtException');
  for (const one of hearing) process.on('uncaughtException', one);
});

/** The effect on a stream of a full disk or of a reader that has gone. */
const fail = () => process.stdout.emit('error', new Error('write EPIPE'));

it('work that must not stay half done runs to its end after a failed write, and the exit code is 2', async () => {
  const steps: string[] = [];
  await exitWith(
    async () => {
      steps.push('half');
      fail();
      steps.push('whole');
      return 1;
    },
    { isFinished: true },
  );
  expect([steps, process.exitCode]).toEqual([['half', 'whole'], 2]);
});

it('a write that fails after the end changes the exit code to 2', async () => {
  await exitWith(async () => 1, { isFinished: true });
  expect(process.exitCode).toBe(1);
  fail();
  expect(process.exitCode).toBe(2);
});

it('a rejected promise is reported, and the exit code is 2', async () => {
  const tell = vi.fn();
  const error = new TypeError('of ours');
  await exitWith(() => Promise.reject(error), { isFinished: true, tell });
  expect([tell.mock.calls, process.exitCode]).toEqual([[[error]], 2]);
});

it('an uncaught exception is reported, and ends the process at once with exit code 2', async () => {
  const [tell, exit] = [vi.fn(), vi.spyOn(process, 'exit').mockReturnValue(undefined as never)];
  const error = new TypeError('of ours');
  process.removeAllListeners('uncaughtException');
  await exitWith(
    async () => {
      // As Node does for a timer that throws, and for an unhandled rejection.
      process.emit('uncaughtException', error);
      return 1;
    },
    { isFinished: true, tell },
  );
  expect([tell.mock.calls, exit.mock.calls]).toEqual([[[error]], [[2]]]);
});
