/** A profile: which constraint keys its checks enforce (interface §Versioning, protocol §8). */
import type { ActionType } from '../model/action.ts';

/** `svc-base-v2` knows budgets; to `svc-base-v1` they are unknown constraints, which deny. */
export type ProfileId = 'svc-base-v1' | 'svc-base-v2';

/** A set of rules that a relying party's decisions follow. */
export interface Profile {
  readonly id: ProfileId;
  readonly constraintKeys: Readonly<Record<ActionType, readonly string[]>>;
  /** Whether budgets are enforced, and therefore their form judged (P1, P19). */
  readonly budgets: boolean;
  /** By id of a check, where it does more than the table says. */
  readonly titles?: Readonly<Record<string, string>>;
}
