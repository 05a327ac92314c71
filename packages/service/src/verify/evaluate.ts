/** One evaluation of one request by the engine: what it rests on, and how the engine is asked. */
import {
  CHECK_IDS,
  type CheckId,
  type CryptoPort,
  type Decided,
  type EvaluationContext,
  evaluate,
  type Facts,
  found,
  type GrantId,
  type Presented,
  type Undecided,
  unavailable,
  type VerifyRequest,
} from '@svc/protocol';
import type { RpCaller } from '../access/caller.ts';
import { internal } from '../errors.ts';
import type { Tenant } from '../ports/tenant.ts';
import type { Idempotency } from './answer.ts';
import type { LoadedFacts } from './facts.ts';
import type { EntitledCaller } from './gate.ts';

/**
 * Milliseconds of a verification, authentication and the reading of its body included: below the two seconds within which a caller
 * must hear 503.
 */
export const VERIFY_DEADLINE_MS = 1_700;

/** One call that asks for a verification, with what belongs to it alone. */
export interface VerifyCall {
  readonly request: VerifyRequest;
  readonly presented: Presented;
  readonly idempotency: Idempotency | null;
  /** Tenant of the caller. */
  readonly tenant: Tenant;
  /** When the caller hears 503 if there is no answer, by `performance.now()`. */
  readonly answerByMs: number;
  /** Crypto of this request alone: it remembers what it has checked. */
  readonly crypto: CryptoPort;
  /** Called before a host of somebody else is waited for. */
  readonly noteRemoteWait: () => void;
}

/** What a decision rests on, one member from each stage before it. */
export interface Grounds {
  readonly call: VerifyCall;
  readonly entitled: EntitledCaller;
  readonly loaded: LoadedFacts;
}

export const contextOf = ({ call, entitled }: Grounds, nowMs: number): EvaluationContext => {
  const { did, profile, proofWindowSeconds } = entitled.caller.relyingParty;
  return { relyingParty: { did, profile, proofWindowSeconds }, nowMs, crypto: call.crypto };
};

/** `known`: facts that take the place of those loaded. */
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

/** These rest on balances, or on a check that does. */
const ON_BALANCES: ReadonlySet<CheckId> = new Set(['P19', 'P20', 'T5']);

/** Every check holds but those on balances, whatever these come to. */
export const doOthersHold = ({ outcomes }: Decided): boolean =>
  CHECK_IDS.every((id) => ON_BALANCES.has(id) || outcomes[id] === true);

/**
 * What is decided without balances, or the Grant whose balances decide. They are asked for where every other check
 * holds and nowhere else: else anybody could sign a Grant of their own under the id of another, take its lock with
 * decisions that are denied anyway, and read at P19 whether an amount is left of the other's budget (protocol §7).
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

/** The loader answers every look-up. */
export const unanswered = ({ lookups }: Undecided): Error =>
  internal(`unanswered look-ups: ${lookups.map(({ fact }) => fact).join(', ')}`);

/**
 * For whoever is paused no status list is consulted: P6 stays open, and nothing is said against a Grant that holds
 * (protocol §9).
 */
export const factsFor = ({ isPaused }: Pick<RpCaller, 'isPaused'>, facts: Facts): Facts =>
  isPaused ? { ...facts, status: unavailable } : facts;

/**
 * The clock may have been set back since the facts were read: no Receipt shows evidence from after its evaluation, which
 * nobody would believe (protocol §8).
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
