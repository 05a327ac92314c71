/** One evaluation of one request by the engine: what it rests on, and how the engine is asked. */
import {
  type CryptoPort,
  type Decided,
  type EvaluationContext,
  evaluate,
  type Facts,
  found,
  type Presented,
  type Undecided,
  unavailable,
  type VerifyRequest,
} from '@svc/protocol';
import type { Tenant } from '../ports/tenant.ts';
import type { Idempotency } from './answer.ts';
import type { LoadedFacts } from './facts.ts';
import type { Admission } from './gate.ts';

/** One request as it came in. */
export interface Asked {
  readonly request: VerifyRequest;
  readonly presented: Presented;
  readonly idempotency: Idempotency | null;
  /** Of the caller. */
  readonly tenant: Tenant;
  /** When the caller hears 503 if there is no answer, by `performance.now()`. */
  readonly answerByMs: number;
  /** Of this request alone: it remembers what it has checked. */
  readonly crypto: CryptoPort;
  /** Called before a host of somebody else is waited for. */
  readonly noteOutsideWait: () => void;
}

/** What a decision rests on, one member from each stage before it. */
export interface Grounds {
  readonly asked: Asked;
  readonly admission: Admission;
  readonly loaded: LoadedFacts;
}

export const contextOf = ({ asked, admission }: Grounds, nowMs: number): EvaluationContext => {
  const { did, profile, proofWindowSeconds } = admission.caller.relyingParty;
  return { relyingParty: { did, profile, proofWindowSeconds }, nowMs, crypto: asked.crypto };
};

/** `known`: facts that take the place of those loaded. */
export const evaluateAt = (
  nowMs: number,
  grounds: Grounds,
  known: Pick<Facts, 'balances' | 'spent'> = {},
): Decided | Undecided =>
  evaluate(
    grounds.asked.presented,
    { ...seenBy(nowMs, factsFor(grounds)), ...known },
    contextOf(grounds, nowMs),
  );

/** For whoever is paused no status list is consulted: P6 stays open, and nothing is said against a Grant that holds (protocol §9). */
const factsFor = ({ admission, loaded: { facts } }: Grounds): Facts =>
  admission.caller.isPaused ? { ...facts, status: unavailable } : facts;

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
