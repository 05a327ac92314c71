import { expect, it } from 'vitest';
import { withinMs } from './deadline.ts';

const never = new Promise<never>(() => {});
const late = () => {
  throw new Error('late');
};

it('withinMs passes on a result or an error that comes in time', async () => {
  await expect(withinMs(60_000, Promise.resolve('done'), late)).resolves.toBe('done');
  await expect(withinMs(60_000, Promise.reject(new Error('failed')), late)).rejects.toThrow('failed');
});

it('withinMs calls the fallback for work that does not settle in time, and returns or throws what that gives', async () => {
  await expect(withinMs(1, never, () => 'instead')).resolves.toBe('instead');
  await expect(withinMs(1, never, late)).rejects.toThrow('late');
});

it('withinMs ignores an error that comes too late', async () => {
  let fail = (_: Error) => {};
  const work = new Promise<never>((_, reject) => {
    fail = reject;
  });
  await expect(withinMs(1, work, () => 'instead')).resolves.toBe('instead');
  fail(new Error('nobody listens'));
  await new Promise(setImmediate);
});
