import { expect, it } from 'vitest';
import { withinMs } from './deadline.ts';

const never = new Promise<never>(() => {});
const late = () => {
  throw new Error('late');
};

it('what settles in time is handed on, whichever way', async () => {
  await expect(withinMs(60_000, Promise.resolve('done'), late)).resolves.toBe('done');
  await expect(withinMs(60_000, Promise.reject(new Error('failed')), late)).rejects.toThrow('failed');
});

it('what does not settle in time is answered for, or fails', async () => {
  await expect(withinMs(1, never, () => 'instead')).resolves.toBe('instead');
  await expect(withinMs(1, never, late)).rejects.toThrow('late');
});

it('what fails after its time disturbs nobody', async () => {
  let fail = (_: Error) => {};
  const work = new Promise<never>((_, reject) => {
    fail = reject;
  });
  await expect(withinMs(1, work, () => 'instead')).resolves.toBe('instead');
  fail(new Error('nobody listens'));
  await new Promise(setImmediate);
});
