/**
 * The reasons for which a process makes no decisions at present. Each component that detects such a condition (the clock, the
 * restore fence) sets a hold under its own name and clears it when the condition is over. `POST /verify`, allocation and
 * jobs with irreversible effects check here; `/readyz` lists each hold with its reason. State of one process, not shared.
 */
import { ServiceError } from '../errors.ts';
import type { Log } from '../ports/platform.ts';

/**
 * `clock`: what time it is is in doubt. `restore`: the database is older than what was acknowledged. `keys`: the key that
 * signs has ended.
 */
export const HOLD_NAMES = ['clock', 'restore', 'keys'] as const;
export type HoldName = (typeof HOLD_NAMES)[number];

export interface Hold {
  readonly name: HoldName;
  /** For the operator: what is wrong, and what ends it. */
  readonly reason: string;
}

export class Holds {
  private readonly reasons = new Map<HoldName, string>();

  constructor(private readonly log: Log) {}

  /** Null lets go. Beginning and end are logged, a reason that changes in between is not. */
  set(name: HoldName, reason: string | null): void {
    const before = this.reasons.get(name);
    if (reason === null) this.reasons.delete(name);
    else this.reasons.set(name, reason);
    if (before === undefined && reason !== null) this.log.error('hold.begun', { hold: name, reason });
    if (before !== undefined && reason === null) this.log.warn('hold.ended', { hold: name, reason: before });
  }

  list(): readonly Hold[] {
    return [...this.reasons].map(([name, reason]) => ({ name, reason }));
  }

  /** Throws `SERVICE_UNAVAILABLE` while anything holds. The reasons go to the log, not to the caller. */
  assertNone(): void {
    if (this.reasons.size === 0) return;
    const detail = this.list()
      .map(({ name, reason }) => `${name}: ${reason}`)
      .join('; ');
    throw new ServiceError(
      'SERVICE_UNAVAILABLE',
      'The service does not decide for now. Nothing was allowed; retry shortly.',
      { detail: `held: ${detail}` },
    );
  }
}
