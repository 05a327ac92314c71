/** The levels at which a call is counted: its key, its subject with all keys, and its org with all members. */
import { type Clock, nameOfSubject, orgOfCaller } from '@svc/service';
import type { Caller } from './caller.ts';
import { type Allowance, RateLimiter } from './rate-limiter.ts';

/** Counts of one kind of call at each level. */
export class Levels {
  readonly key: RateLimiter;
  readonly subject: RateLimiter;
  readonly org: RateLimiter;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.key = new RateLimiter(clock);
    this.subject = new RateLimiter(clock);
    this.org = new RateLimiter(clock);
  }
}

export interface LevelCount {
  readonly limiter: RateLimiter;
  readonly name: string;
  readonly limit: number;
}

/** Calls of the operator and the console are counted by their secret only. */
export const countsAt = (
  levels: Levels,
  caller: Caller,
  limits: Readonly<Record<keyof Levels, number>>,
): readonly LevelCount[] => {
  const key = { limiter: levels.key, name: nameOfCaller(caller), limit: limits.key };
  if (caller.subject === null || caller.class === 'observer') return [key];
  const subject = { limiter: levels.subject, name: nameOfSubject(caller), limit: limits.subject };
  const orgId = orgOfCaller(caller);
  if (orgId === null) return [key, subject];
  return [key, subject, { limiter: levels.org, name: orgId, limit: limits.org }];
};

/** True: other subjects share the caller's org. */
export const isMember = (caller: Caller): boolean => caller.class !== 'org' && orgOfCaller(caller) !== null;

/** The counts that other keys of the caller's subject cannot use up. A member stays within the limit of its org. */
export const reservedOf = (
  { key, org }: Levels,
  counts: readonly LevelCount[],
  caller: Caller,
): readonly LevelCount[] =>
  counts.filter(({ limiter }) => limiter === key || (limiter === org && isMember(caller)));

/** The limit that refuses, or else the one with the least left, after `calls` more. */
export const tightestOf = ([first, ...others]: readonly LevelCount[], calls: number): Allowance => {
  if (first === undefined) throw new Error('a caller without a limit');
  let tightest = first.limiter.peek(first.name, first.limit, calls);
  for (const { limiter, name, limit } of others) {
    if (!tightest.allowed) break;
    const allowance = limiter.peek(name, limit, calls);
    if (!allowance.allowed || allowance.remaining < tightest.remaining) tightest = allowance;
  }
  return tightest;
};

export const take = (counts: readonly LevelCount[], calls: number): void => {
  for (const { limiter, name, limit } of counts) limiter.take(name, limit, calls);
};

/** Provision keys that overlap during a rotation are counted separately. */
export const nameOfCaller = (caller: Caller): string =>
  caller.class === 'provision' ? `provision ${caller.ordinal}` : (caller.keyId ?? caller.class);
