import { StoreError } from '@svc/service';
import { expect, it, vi } from 'vitest';
import { patiently } from './patiently.ts';

const unavailable = new StoreError('unavailable', 'no connection was open within 400 ms');

it('asks again while the database cannot be had', async () => {
  const work = vi
    .fn()
    .mockRejectedValueOnce(unavailable)
    .mockRejectedValueOnce(unavailable)
    .mockResolvedValue(7);
  expect(await patiently(work, { pauseMs: 0 })).toBe(7);
  expect(work).toHaveBeenCalledTimes(3);
});

it('ends with what the last attempt said, in bounded time', async () => {
  const work = vi.fn().mockRejectedValue(unavailable);
  await expect(patiently(work, { forMs: 0 })).rejects.toBe(unavailable);
  expect(work).toHaveBeenCalledTimes(1);
});

it.each([new StoreError('refused', 'belongs to another service'), new Error('a fault')])(
  'asks once where waiting cannot help: %s',
  async (error) => {
    const work = vi.fn().mockRejectedValue(error);
    await expect(patiently(work)).rejects.toBe(error);
    expect(work).toHaveBeenCalledTimes(1);
  },
);
