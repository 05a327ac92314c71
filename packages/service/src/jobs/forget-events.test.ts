import { expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { forgetEvents } from './forget-events.ts';

it('the outbox is moved until a step moves less than it was asked for, also where one moves more', async () => {
  const moved = [1_037, 1_000, 3, 0];
  const store = {
    eventLog: { sequence: async () => moved.shift(), forget: async () => 0 },
    revocationNotices: { nextToTell: async () => null },
  };
  const deps = { store, clock: { nowMs: () => 0 } } as unknown as ServiceDeps;
  await forgetEvents(deps, new AbortController().signal);
  expect(moved).toEqual([0]);
});
