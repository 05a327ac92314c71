import { afterEach, expect, it, vi } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { completePauses } from './complete-pauses.ts';

afterEach(() => vi.restoreAllMocks());

it('completePauses ends after a minute, so that revocations of the same round do not wait for it', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const waiting = Array.from({ length: 1_000 }, (_, i) => ({
    ...{ scope: 'grant', owner: 'did:web:acme.example', subject: `g${i}`, changedAtMs: 0, visibleAtMs: null },
  }));
  const store = {
    pauses: { listUnstamped: async () => waiting },
    revocation: {
      async passBarrier() {
        nowMs += 2_000;
      },
    },
    transaction: async () => null,
  };
  const log = { warn: () => {} };
  const deps = { store, log, clock: { nowMs: () => 0 } } as unknown as ServiceDeps;
  await completePauses(deps, new AbortController().signal);
  expect(nowMs).toBe(60_000);
});
