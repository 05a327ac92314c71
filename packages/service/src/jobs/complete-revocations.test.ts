import type { DidWeb } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { StoreError } from '../ports/store.ts';
import { completeRevocations } from './complete-revocations.ts';

const never = new AbortController().signal;

/** One unstamped Grant of each Principal; `fail` says what becomes of a stamp. */
const storeOf = (principals: readonly string[], fail: (principal: DidWeb) => Error | null) => {
  const stamped: string[] = [];
  const warned: unknown[] = [];
  const grants = {
    listUnstamped: async () => principals.map((principal) => ({ id: `grant of ${principal}`, principal })),
  };
  const revocation = {
    stampRevoked: async (principal: DidWeb, ids: readonly string[]) => {
      const error = fail(principal);
      if (error !== null) throw error;
      stamped.push(...ids);
      return new Set(ids);
    },
  };
  const store = { grants, revocation, transaction: async () => undefined };
  const log = { warn: (...said: unknown[]) => warned.push(said) };
  const deps = { store, log, clock: { nowMs: () => 0 } } as unknown as ServiceDeps;
  return { deps, stamped, warned };
};

describe('revocations cut off between their phases', () => {
  it('of a Principal whose barrier is held up are left and told, and those of the others are stamped', async () => {
    const { deps, stamped, warned } = storeOf(['held', 'free'], (principal) =>
      principal === 'held' ? new StoreError('lock_timeout', 'the barrier is held') : null,
    );
    expect(await completeRevocations(deps, never)).toEqual({ stamped: 1 });
    expect(stamped).toEqual(['grant of free']);
    expect(warned).toEqual([
      ['revocation.not_completed', { principal: 'held', grants: 1, error: 'the barrier is held' }],
    ]);
  });

  it('are not begun any more once the round is stopped, and what is no fault of storage is no less than a failure', async () => {
    const stopped = storeOf(['one'], () => null);
    expect(await completeRevocations(stopped.deps, AbortSignal.abort())).toEqual({ stamped: 0 });
    expect(stopped.stamped).toEqual([]);
    const broken = storeOf(['one'], () => new TypeError('mine'));
    await expect(completeRevocations(broken.deps, never)).rejects.toThrow('mine');
  });
});
