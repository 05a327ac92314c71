import { afterEach, expect, it, vi } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { forgetSpentProofs } from './retention.ts';

afterEach(() => vi.restoreAllMocks());

it('a round ends after a minute, however much is left', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const retention = {
    async sweepSpentProofs() {
      nowMs += 30_001;
      return { removed: 1, next: 1 };
    },
  };
  const deps = { store: { retention }, clock: { nowMs: () => 0 } } as unknown as ServiceDeps;
  expect(await forgetSpentProofs(deps, new AbortController().signal)).toEqual({ removed: 2 });
});
