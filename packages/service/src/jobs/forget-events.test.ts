import { afterEach, expect, it, vi } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { StoreError } from '../ports/store.ts';
import { forgetEvents } from './forget-events.ts';

afterEach(() => vi.restoreAllMocks());

const depsOf = (eventLog: object, told = () => {}): ServiceDeps => {
  const revocationNotices = {
    nextToTell: async () => {
      told();
      return null;
    },
  };
  return { store: { eventLog, revocationNotices }, clock: { nowMs: () => 0 } } as unknown as ServiceDeps;
};
const { signal } = new AbortController();

it('the outbox is moved until a step moves less than it was asked for, also after a step that moves more', async () => {
  const moved = [1_037, 1_000, 3, 0];
  await forgetEvents(depsOf({ sequence: async () => moved.shift(), forget: async () => 0 }), signal);
  expect(moved).toEqual([0]);
});

it('if the outbox cannot be moved, the round does everything else and then fails', async () => {
  let isForgotten = false;
  let isTold = false;
  const failure = new StoreError('unavailable', 'the outbox is locked');
  const eventLog = {
    sequence: () => Promise.reject(failure),
    forget: async () => {
      isForgotten = true;
      return 0;
    },
  };
  const round = forgetEvents(
    depsOf(eventLog, () => {
      isTold = true;
    }),
    signal,
  );
  await expect(round).rejects.toBe(failure);
  expect([isForgotten, isTold]).toEqual([true, true]);
});

it('an outbox without end leaves time to forget events, and the round reports that something is left', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const stepOf = (count: number) => async () => {
    nowMs += 1_000;
    return count;
  };
  const round = (sequence: number, forget: number) =>
    forgetEvents(depsOf({ sequence: stepOf(sequence), forget: stepOf(forget) }), signal);
  expect(await round(1_000, 1_000)).toEqual({ removed: 40_000, left: 1 });
  expect(await round(1_000, 0)).toEqual({ removed: 0, left: 1 });
  expect(await round(0, 1_000)).toEqual({ removed: 59_000, left: 1 });
  expect(await round(0, 0)).toEqual({ removed: 0, left: 0 });
});
