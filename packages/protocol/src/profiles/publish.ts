/** Publishes a profile: its checks, taken from the table, its document and the hash of that document (protocol §8). */

import { portableCrypto, type Sha256, sha256Of } from '@svc/codec';
import {
  type AnyCheck,
  type CheckId,
  isProtocolCheck,
  isTrustCheck,
  type ProtocolCheckId,
  type TrustCheckId,
} from '../checks/table.ts';
import { profileDocument } from './document.ts';
import type { Profile } from './profile.ts';

/** Passed, denied, or skipped because a check that it requires did not pass. */
export type CheckOutcome = boolean | 'skipped';

/** Checks of a profile that a Receipt lists together. */
export interface CheckGroup<Id extends CheckId = CheckId> {
  /** Sorted as RFC 8785 sorts member names: P1, P10, P11, … */
  readonly ids: readonly Id[];
  /** Each of them, in this order, with the outcome `skipped`. */
  readonly skipped: Readonly<Record<string, CheckOutcome>>;
}

/** A profile with the checks that it runs, its published text and the hash of that text, which Receipts name. */
export interface PublishedProfile {
  readonly profile: Profile;
  /** In the order in which they run, which decides the reason of a DENY. */
  readonly checks: readonly AnyCheck[];
  /** The ids of `checks`, in the same order. */
  readonly checkIds: readonly CheckId[];
  /** Each of `checks`, in the same order, with the outcome `skipped`. */
  readonly skipped: Readonly<Partial<Record<CheckId, CheckOutcome>>>;
  readonly protocolChecks: CheckGroup<ProtocolCheckId>;
  readonly trustChecks: CheckGroup<TrustCheckId>;
  readonly document: string;
  readonly hash: Sha256;
}

/** `checks`: those of the table that this profile runs. */
export const publish = (profile: Profile, checks: readonly AnyCheck[]): PublishedProfile => {
  const checkIds = checks.map(({ id }) => id);
  const document = profileDocument(profile, checks);
  return {
    profile,
    checks,
    checkIds,
    skipped: skippedOf(checkIds),
    protocolChecks: groupOf(checkIds.filter(isProtocolCheck)),
    trustChecks: groupOf(checkIds.filter(isTrustCheck)),
    document,
    hash: sha256Of(portableCrypto, document),
  };
};

const groupOf = <Id extends CheckId>(unsorted: readonly Id[]): CheckGroup<Id> => {
  const ids = [...unsorted].sort();
  return { ids, skipped: skippedOf(ids) };
};

const skippedOf = (ids: readonly CheckId[]): Readonly<Record<string, CheckOutcome>> =>
  Object.fromEntries(ids.map((id) => [id, 'skipped']));
