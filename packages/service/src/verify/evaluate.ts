/** One evaluation of one request by the engine: its inputs, and the calls of the engine. */
import {
  type CheckId,
  type CryptoPort,
  type Decided,
  type EvaluationContext,
  evaluate,
  type Facts,
  found,
  type GrantId,
  PROFILES,
  type Presented,
  type PublishedProfile,
  type Undecided,
  unavailable,
  type VerifyRequest,
} from '@svc/protocol';
import type { RpCaller } from '../access/caller.ts';
import { internal } from '../errors.ts';
import type { Tenant } from '../ports/tenant.ts';
import { knownProfileOf } from '../relying-parties/known-profile.ts';
import type { Idempotency } from './answer.ts';
import type { LoadedFacts } from './facts.ts';
import type { EntitledCaller } from './gate.ts';

/**
 * Milliseconds that a verification may take, including authentication and reading the body. Less than the two seconds
 * within which a caller must receive 503.
 */
export const VERIFY_DEADLINE_MS = 1_700;

/** One call that asks for a verification, with the state of this call alone. */
export interface VerifyCall {
  readonly request: VerifyRequest;
  readonly presented: Presented;
  readonly idempotency: Idempotency | null;
  /** Tenant of the caller. */
  readonly tenant: Tenant;
  /** When the caller receives 503 if there is no answer, by `performance.now()`. */
  readonly answerByMs: number;
  /** Crypto port of this request alone: it stores the results of its checks. */
  readonly crypto: CryptoPort;
  /** Called before the request waits for a host outside the service. */
  readonly noteRemoteWait: () => void;
}

/** The inputs of a decision, one member from each stage before it. */
export interface Grounds {
  readonly call: VerifyCall;
  readonly entitled: EntitledCaller;
  readonly loaded: LoadedFacts;
}

/** Throws `SERVICE_UNAVAILABLE` where this version does not know the relying party's profile. */
export const contextOf = ({ call, entitled }: Grounds, nowMs: number): EvaluationContext => {
  const { relyingParty } = entitled.caller;
  const { did, proofWindowSeconds } = relyingParty;
  const { id: profile } = knownProfileOf(relyingParty).profile;
  return { relyingParty: { did, profile, proofWindowSeconds }, nowMs, crypto: call.crypto };
};

/** `known`: facts that replace the loaded ones. */
export const evaluateAt = (
  nowMs: number,
  grounds: Grounds,
  known: Pick<Facts, 'balances' | 'spent'> = {},
): Decided | Undecided =>
  evaluate(
    grounds.call.presented,
    { ...seenBy(nowMs, factsFor(grounds.entitled.caller, grounds.loaded.facts)), ...known },
    contextOf(grounds, nowMs),
  );

/** The checks of a profile that do not depend on this one: they require neither it nor a check that depends on it. */
export const checksWithout = ({ checks }: PublishedProfile, check: CheckId): readonly CheckId[] => {
  const dependent = new Set([check]);
  for (const { id, requires } of checks) if (requires.some((one) => dependent.has(one))) dependent.add(id);
  return checks.map(({ id }) => id).filter((id) => !dependent.has(id));
};

/** By profile. P19 is the check that reads balances. */
const OTHERS = new Map(
  Object.values(PROFILES).map((published) => [published, checksWithout(published, 'P19')]),
);

/** Whether every check of the profile that does not depend on balances holds. */
export const doOthersHold = ({ under, outcomes }: Pick<Decided, 'under' | 'outcomes'>): boolean =>
  (OTHERS.get(under) ?? under.checkIds).every((id) => outcomes[id] === true);

/**
 * The decision where balances are not needed, else the Grant whose balances are. Balances are read only where every
 * other check holds (protocol §7). Otherwise anybody could sign a Grant under the id of another one. Its denied
 * decisions would take the other Grant's lock, and P19 would show whether an amount is left of the other Grant's
 * budget.
 */
export const evaluateBeforeBalances = (
  nowMs: number,
  grounds: Grounds,
  known: Pick<Facts, 'spent'> = {},
): Decided | { readonly kind: 'on balances'; readonly grantId: GrantId } => {
  const evaluation = evaluateAt(nowMs, grounds, { ...known, balances: unavailable });
  if (evaluation.kind === 'undecided') throw unanswered(evaluation);
  const { outcomes, evidence } = evaluation;
  const isOpen = outcomes.P19 === 'skipped' && doOthersHold(evaluation);
  if (!isOpen || evidence.P3 === undefined) return evaluation;
  return { kind: 'on balances', grantId: evidence.P3.grant.id };
};

/** An internal error: the loader answers every look-up, so no evaluation may be left undecided. */
export const unanswered = ({ lookups }: Undecided): Error =>
  internal(`unanswered look-ups: ${lookups.map(({ fact }) => fact).join(', ')}`);

/**
 * No status list is consulted for a paused caller: P6 stays undetermined, so a valid Grant is not reported as revoked
 * (protocol §9).
 */
export const factsFor = ({ isPaused }: Pick<RpCaller, 'isPaused'>, facts: Facts): Facts =>
  isPaused ? { ...facts, status: unavailable } : facts;

/**
 * The clock may have been set back since the facts were read. Times of evidence are limited to `nowMs`, because a
 * Receipt whose evidence is later than its evaluation is not credible (protocol §8).
 */
const seenBy = (nowMs: number, facts: Facts): Facts => {
  const { document, status } = facts;
  const isAhead = (atMs: number) => atMs > nowMs;
  return {
    ...facts,
    ...(document?.answer === 'found' &&
      isAhead(document.value.resolvedAtMs) && {
        document: found({ ...document.value, resolvedAtMs: nowMs }),
      }),
    ...(status?.answer === 'found' &&
      isAhead(status.value.checkedAtMs) && { status: found({ ...status.value, checkedAtMs: nowMs }) }),
  };
};
