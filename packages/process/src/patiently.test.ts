import { StoreError } from '@svc/service';
import { expect, it, vi } from 'vitest';
import { patiently } from './patiently.ts';

const unavailable = new StoreError('unavailable', 'no connection was open within 400 ms');

it('patiently repeats work while the database is unavailable', async () => {
  const work = vi
    .fn()
    .mockRejectedValueOnce(unavailable)
    .mockRejectedValueOnce(unavailable)
    .mockResolvedValue(7);
  expect(await patiently(work, { pauseMs: 0 })).toBe(7);
  expect(work).toHaveBeenCalledTimes(3);
});

it('patiently ends with the last error once its time is over', async () => {
  const work = vi.fn().mockRejectedValue(unavailable);
  await expect(patiently(work, { forMs: 0 })).rejects.toBe(unavailable);
  expect(work).toHaveBeenCalledTimes(1);
});

it.each([new StoreError('refused', 'belongs to another service'), new Error('a fault')])(
  'patiently does not repeat work with an error that waiting cannot cure: %s',
  async (error) => {
    const work = vi.fn().mockRejectedValue(error);
    await expect(patiently(work)).rejects.toBe(error);
    expect(work).toHaveBeenCalledTimes(1);
  },
);
