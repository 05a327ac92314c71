import type { DidWeb } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { StoreError } from '../ports/store.ts';
import { completeRevocations } from './complete-revocations.ts';

const never = new AbortController().signal;

/**
 * A store with one unstamped Grant of each of these Principals, the longest waiting first, listed in pages of two
 * Principals. `fail` returns the error of a stamp, `failListing` that of a page or of the Grants of a Principal.
 */
const storeOf = (
  principals: readonly string[],
  fail: (principal: DidWeb) => Error | null,
  failListing: (of: string) => Error | null = () => null,
) => {
  const waiting = [...principals];
  const stamped: string[] = [];
  const warned: unknown[] = [];
  const list = (of: string) => {
    const error = failListing(of);
    if (error !== null) throw error;
  };
  const grants = {
    listUnstamped: async (principal: string, _: number, limit: number) => {
      list(principal);
      const own = waiting.filter((one) => one === principal).slice(0, limit);
      return own.map(() => ({ id: `grant of ${principal}`, principal }));
    },
    listUnstampedPrincipals: async (_: number, after: string | null) => {
      list(`page after ${after}`);
      const later = [...new Set(waiting)].sort().filter((principal) => principal > (after ?? ''));
      const page = later.slice(0, 2);
      return { principals: page, next: later.length > 2 ? page.at(-1) : null };
    },
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
  it('of a Principal whose barrier is held are left and logged, and those of others are stamped', async () => {
    const { deps, stamped, warned } = storeOf(['held', 'free'], (principal) =>
      principal === 'held' ? new StoreError('lock_timeout', 'the barrier is held') : null,
    );
    expect(await completeRevocations(deps, never)).toEqual({ stamped: 1 });
    expect(stamped).toEqual(['grant of free']);
    expect(warned).toEqual([
      ['revocation.not_completed', { principal: 'held', grants: 1, error: 'the barrier is held' }],
    ]);
  });

  it('behind a thousand of a Principal whose barrier is held are stamped in the same round', async () => {
    const many = Array.from({ length: 1_000 }, () => 'held');
    const { deps, stamped, warned } = storeOf([...many, 'free'], (principal) =>
      principal === 'held' ? new StoreError('lock_timeout', 'the barrier is held') : null,
    );
    expect(await completeRevocations(deps, never)).toEqual({ stamped: 1 });
    expect(stamped).toEqual(['grant of free']);
    expect(warned).toHaveLength(1);
  });

  it('of a Principal that has thousands give others their turn after the first thousand', async () => {
    const many = Array.from({ length: 2_500 }, () => 'large');
    const { deps, stamped } = storeOf([...many, 'small'], () => null);
    expect(await completeRevocations(deps, never)).toEqual({ stamped: 2_501 });
    expect(stamped.indexOf('grant of small')).toBe(1_000);
  });

  it('of Principals already listed are stamped although later ones cannot be listed, and the round then fails', async () => {
    const large = Array.from({ length: 2_500 }, () => 'a');
    const { deps, stamped } = storeOf(
      [...large, 'b', 'c'],
      () => null,
      (of) => (of === 'page after b' ? new StoreError('unavailable', 'too slow') : null),
    );
    await expect(completeRevocations(deps, never)).rejects.toThrow('too slow');
    expect(stamped).toHaveLength(2_501);
  });

  it('of a Principal that cannot be listed do not keep those of others from being stamped', async () => {
    const { deps, stamped, warned } = storeOf(
      ['a', 'b', 'c'],
      () => null,
      (of) => (of === 'b' ? new StoreError('unavailable', 'too slow') : null),
    );
    expect(await completeRevocations(deps, never)).toEqual({ stamped: 2 });
    expect(stamped).toEqual(['grant of a', 'grant of c']);
    expect(warned).toEqual([['revocation.not_completed', { principal: 'b', grants: 0, error: 'too slow' }]]);
  });

  it('are not begun once the round is stopped, and an error other than one of storage fails the round', async () => {
    const stopped = storeOf(['one'], () => null);
    expect(await completeRevocations(stopped.deps, AbortSignal.abort())).toEqual({ stamped: 0 });
    expect(stopped.stamped).toEqual([]);
    const broken = storeOf(['one'], () => new TypeError('mine'));
    await expect(completeRevocations(broken.deps, never)).rejects.toThrow('mine');
  });
});
