import type { DidWeb } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { StoreError } from '../ports/store.ts';
import { completeRevocations } from './complete-revocations.ts';

const never = new AbortController().signal;

/** An unstamped Grant of each of these, the longest waiting first; `fail` says what becomes of a stamp. */
const storeOf = (principals: readonly string[], fail: (principal: DidWeb) => Error | null) => {
  const waiting = [...principals];
  const grantOf = (principal: string) => ({ id: `grant of ${principal}`, principal });
  const stamped: string[] = [];
  const warned: unknown[] = [];
  const grants = {
    listUnstamped: async (_: number, limit: number, except: readonly string[]) =>
      waiting
        .filter((principal) => !except.includes(principal))
        .slice(0, limit)
        .map(grantOf),
  };
  const revocation = {
    stampRevoked: async (principal: DidWeb, ids: readonly string[]) => {
      const error = fail(principal);
      if (error !== null) throw error;
      stamped.push(...ids);
      for (const _ of ids) waiting.splice(waiting.indexOf(principal), 1);
      return new Set(ids.map((id, i) => `${id} ${i}`));
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

  it('reach a Principal behind a thousand of one whose barrier is held up, in the same round', async () => {
    const many = Array.from({ length: 1_000 }, () => 'held');
    const { deps, stamped, warned } = storeOf([...many, 'free'], (principal) =>
      principal === 'held' ? new StoreError('lock_timeout', 'the barrier is held') : null,
    );
    expect(await completeRevocations(deps, never)).toEqual({ stamped: 1 });
    expect(stamped).toEqual(['grant of free']);
    expect(warned).toHaveLength(1);
  });

  it('of a Principal that has thousands leave the others their turn after the first thousand', async () => {
    const many = Array.from({ length: 2_500 }, () => 'large');
    const { deps, stamped } = storeOf([...many, 'small'], () => null);
    expect(await completeRevocations(deps, never)).toEqual({ stamped: 2_501 });
    expect(stamped.indexOf('grant of small')).toBe(1_000);
  });

  it('are not begun any more once the round is stopped, and what is no fault of storage is no less than a failure', async () => {
    const stopped = storeOf(['one'], () => null);
    expect(await completeRevocations(stopped.deps, AbortSignal.abort())).toEqual({ stamped: 0 });
    expect(stopped.stamped).toEqual([]);
    const broken = storeOf(['one'], () => new TypeError('mine'));
    await expect(completeRevocations(broken.deps, never)).rejects.toThrow('mine');
  });
});
