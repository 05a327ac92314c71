import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { forgetSpentProofs } from './retention.ts';

// A pause takes no time here, but lets other work of the process go on.
beforeEach(() => {
  vi.spyOn(timers, 'setTimeout').mockImplementation(async () => timers.setImmediate());
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

it('a round ends after a minute, and reports that something is left', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const retention = {
    async sweepSpentProofs() {
      nowMs += 30_001;
      return { removed: 1, next: 1 };
    },
  };
  const deps = { store: { retention }, clock: { nowMs: () => 0 } } as unknown as ServiceDeps;
  expect(await forgetSpentProofs(deps, new AbortController().signal)).toEqual({ removed: 2, left: 1 });
});

it('a round that begins behind the rest of a table goes through it once', async () => {
  const asked: number[] = [];
  const retention = {
    async sweepSpentProofs(from: number) {
      asked.push(from);
      return { removed: 1, next: null };
    },
  };
  const deps = { store: { retention }, clock: { nowMs: () => 0 } } as unknown as ServiceDeps;
  expect(await forgetSpentProofs(deps, new AbortController().signal, { from: 40, lap: null })).toEqual({
    removed: 2,
    left: 0,
  });
  expect(asked).toEqual([40, 0]);
});

it('a table that takes longer than a round is gone through once in several rounds, and then nothing is left', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  // By this clock a step takes 20 s and a pause no time, so a round of 60 s does three of the five parts.
  const retention = {
    async sweepSpentProofs(from: number) {
      nowMs += 20_000;
      return { removed: 0, next: from === 4 ? null : from + 1 };
    },
  };
  const deps = { store: { retention }, clock: { nowMs: () => 0 } } as unknown as ServiceDeps;
  const place = { from: 2, lap: null };
  const left: number[] = [];
  for (let i = 0; i < 4; i++)
    left.push((await forgetSpentProofs(deps, new AbortController().signal, place)).left);
  expect(left).toEqual([1, 0, 1, 0]);
});
