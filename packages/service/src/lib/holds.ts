/**
 * The reasons for which a process makes no decisions at present. Each component that detects such a condition (the clock, the
 * restore fence) sets a hold under its own name and clears it when the condition is over. `POST /verify`, allocation and
 * jobs with irreversible effects check here; `/readyz` lists each hold with its reason. State of one process, not shared.
 */
import { ServiceError } from '../errors.ts';
import type { Log } from '../ports/platform.ts';

/**
 * `clock`: what time it is is in doubt. `fence`: the database may not be the one that made the last promises (fence.ts).
 * `keys`: the key that signs has ended. `signer`: what signs Receipts, outside of this process, does not answer.
 */
export const HOLD_NAMES = ['clock', 'fence', 'keys', 'signer'] as const;
export type HoldName = (typeof HOLD_NAMES)[number];

export interface Hold {
  readonly name: HoldName;
  /** For the operator: what is wrong, and what ends it. */
  readonly reason: string;
  /** Nothing that the database says may be relied on, not even a revocation that it takes. */
  readonly isOfAll?: boolean;
  /** Nothing is in doubt, neither the time nor the records: a restore waits until spent Proofs are too old. */
  readonly isSettling?: boolean;
}

export class Holds {
  private readonly reasons = new Map<HoldName, string>();
  private readonly watched = new Map<HoldName, () => Omit<Hold, 'name'> | null>();

  constructor(private readonly log: Log) {}

  /** Null lets go. Beginning and end are logged, a reason that changes in between is not. */
  set(name: HoldName, reason: string | null): void {
    const before = this.reasons.get(name);
    if (reason === null) this.reasons.delete(name);
    else this.reasons.set(name, reason);
    if (before === undefined && reason !== null) this.log.error('hold.begun', { hold: name, reason });
    if (before !== undefined && reason === null) this.log.warn('hold.ended', { hold: name, reason: before });
  }

  /**
   * What is asked each time, for a hold that begins because nothing was heard in time: no timer that could be late itself
   * stands between. `ask` must answer from memory.
   */
  watch(name: HoldName, ask: () => Omit<Hold, 'name'> | null): void {
    this.watched.set(name, ask);
  }

  list(): readonly Hold[] {
    const held: Hold[] = [...this.reasons].map(([name, reason]) => ({ name, reason }));
    for (const [name, ask] of this.watched) {
      const hold = ask();
      if (hold !== null) held.push({ ...hold, name });
    }
    return held;
  }

  /** Throws `SERVICE_UNAVAILABLE` while anything holds. The reasons go to the log, not to the caller. */
  assertNone(): void {
    refuse(this.list(), 'The service does not decide for now. Nothing was allowed; retry shortly.');
  }

  /** The same, but for a restore that settles. */
  assertNoneButSettling(): void {
    refuse(
      this.list().filter(({ isSettling }) => isSettling !== true),
      'The service does not decide for now. Nothing was changed; retry shortly.',
    );
  }

  /** The same while something holds more than decisions. */
  assertSure(): void {
    const held = this.list().filter(({ isOfAll }) => isOfAll === true);
    refuse(held, 'The service cannot tell for now whether its records are the latest; retry later.');
  }
}

const refuse = (held: readonly Hold[], message: string): void => {
  if (held.length === 0) return;
  const detail = held.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  throw new ServiceError('SERVICE_UNAVAILABLE', message, { detail: `held: ${detail}` });
};
