/**
 * A profile: which constraint keys its checks enforce (interface §Versioning, protocol §8). A check that not every
 * profile runs says itself which do.
 */
import type { ActionType } from '../model/action.ts';

/** `svc-base-v2` supports budgets; under `svc-base-v1` budget keys are unknown constraints, which deny. */
export const PROFILE_IDS = ['svc-base-v1', 'svc-base-v2'] as const;

/** The id of a profile of this version. */
export type ProfileId = (typeof PROFILE_IDS)[number];

const known: ReadonlySet<unknown> = /* @__PURE__ */ new Set(PROFILE_IDS);
/** Whether a value is the id of a profile that this version knows. */
export const isProfileId = (value: unknown): value is ProfileId => known.has(value);

/** A set of rules that a relying party's decisions follow. */
export interface Profile {
  readonly id: ProfileId;
  readonly constraintKeys: Readonly<Record<ActionType, readonly string[]>>;
  /** Whether budgets are enforced and therefore their form is checked (P1, P19). */
  readonly budgets: boolean;
  /** Titles by check id, for checks that do more than the table's title says. */
  readonly titles?: Readonly<Record<string, string>>;
}
