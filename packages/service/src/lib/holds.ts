/**
 * The reasons for which a process makes no decisions at present. Each component that detects such a condition (the
 * clock, the restore fence) sets a hold under its own name and clears it when the condition is over. `POST /verify`,
 * allocation and jobs with irreversible effects check here; `/readyz` lists each hold with its reason. State of one
 * process, not shared.
 */
import { ServiceError } from '../errors.ts';
import type { Log } from '../ports/platform.ts';

/**
 * - `clock`: the time is in doubt.
 * - `fence`: the database may not be the one that made the latest commitments (fence.ts).
 * - `keys`: the signing key has ended.
 * - `signer`: the external signer of Receipts does not answer.
 */
export const HOLD_NAMES = ['clock', 'fence', 'keys', 'signer'] as const;
export type HoldName = (typeof HOLD_NAMES)[number];

export interface Hold {
  readonly name: HoldName;
  /** For the operator: what is wrong, and what ends it. */
  readonly reason: string;
  /** The database may not be used at all: neither its answers nor its writes are reliable, not even a revocation. */
  readonly isOfAll?: boolean;
  /** Neither time nor records are in doubt: the hold only lasts until Proofs spent before a restore are too old. */
  readonly isSettling?: boolean;
}

export class Holds {
  private readonly reasons = new Map<HoldName, string>();
  private readonly watched = new Map<HoldName, () => Omit<Hold, 'name'> | null>();

  constructor(private readonly log: Log) {}

  /** Sets a hold, or ends it (null). Beginning and end are logged; a change of the reason in between is not. */
  set(name: HoldName, reason: string | null): void {
    const before = this.reasons.get(name);
    if (reason === null) this.reasons.delete(name);
    else this.reasons.set(name, reason);
    if (before === undefined && reason !== null) this.log.error('hold.begun', { hold: name, reason });
    if (before !== undefined && reason === null) this.log.warn('hold.ended', { hold: name, reason: before });
  }

  /**
   * Registers a hold that is evaluated on each check, for conditions that begin by the passage of time. It needs no
   * timer, which could be late itself. `ask` must answer from memory.
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

  /** Throws `SERVICE_UNAVAILABLE` while there is a hold. The reasons are for the log, not for the caller. */
  assertNone(): void {
    refuse(this.list(), 'The service does not decide for now. Nothing was allowed; retry shortly.');
  }

  /** As `assertNone`, except that a hold with `isSettling` is ignored. */
  assertNoneButSettling(): void {
    refuse(
      this.list().filter(({ isSettling }) => isSettling !== true),
      'The service does not decide for now. Nothing was changed; retry shortly.',
    );
  }

  /** Throws `SERVICE_UNAVAILABLE` only while there is a hold with `isOfAll`. */
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
