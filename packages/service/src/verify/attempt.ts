/** One evaluation of one request: what it is evaluated on, and the signed decision that comes of it. */
import {
  buildReceiptBody,
  type CryptoPort,
  type Decided,
  type EvaluationContext,
  encodeUlid,
  evaluate,
  type Facts,
  type Presented,
  type ReceiptId,
  type Undecided,
  type VerifyRequest,
} from '@svc/protocol';
import { signReceipt } from '@svc/receipts';
import type { ServiceDeps } from '../deps.ts';
import type { DecisionCommit } from '../ports/verify-store.ts';
import type { StoredOutcome } from './committer.ts';
import { buildDecisionCommit } from './decision-commit.ts';
import type { Admission } from './entitlement-gate.ts';
import type { LoadedFacts } from './fact-loader.ts';

export interface Idempotency {
  readonly key: string;
  /** SHA-256 of the request body as received, hex. */
  readonly bodyHash: string;
}

export interface VerifyAnswer {
  /** The Receipt as JSON text. */
  readonly text: string;
  readonly decision: 'ALLOW' | 'DENY';
  readonly reason: string | null;
  /** True when this is the stored answer to an earlier request with the same idempotency key. */
  readonly replayed: boolean;
}

/** One request as it came in. */
export interface Asked {
  readonly request: VerifyRequest;
  readonly idempotency: Idempotency | null;
  /** When the caller hears 503 if there is no answer, by `performance.now()`. */
  readonly answerByMs: number;
}

export interface Attempt extends Admission, LoadedFacts, Asked {
  readonly presented: Presented;
  /** Of this request alone: it may remember what it has checked. */
  readonly crypto: CryptoPort;
}

export interface Attempted {
  readonly outcome: StoredOutcome;
  /** Null: it was not evaluated, and is not stored. */
  readonly answer: VerifyAnswer | null;
}

export interface SignedDecision {
  readonly commit: DecisionCommit;
  readonly answer: VerifyAnswer;
}

const contextOf = ({ caller, crypto }: Attempt, nowMs: number): EvaluationContext => {
  const { did, profile, proofWindowSeconds } = caller.relyingParty;
  return { relyingParty: { did, profile, proofWindowSeconds }, nowMs, crypto };
};

/** On the facts of the attempt, and what is known besides. */
export const evaluateAttempt = (
  attempt: Attempt,
  nowMs: number,
  known: Pick<Facts, 'balances' | 'spent'> = {},
): Decided | Undecided =>
  evaluate(attempt.presented, { ...attempt.facts, ...known }, contextOf(attempt, nowMs));

/** Makes the Receipt of what was decided at `nowMs`. */
export const signDecision = async (
  { identity, random }: Pick<ServiceDeps, 'identity' | 'random'>,
  attempt: Attempt,
  decided: Decided,
  nowMs: number,
): Promise<SignedDecision> => {
  const receiptId = `drc_${encodeUlid(nowMs, random.bytes(10))}` as ReceiptId;
  const body = buildReceiptBody(attempt.request, decided, { ...contextOf(attempt, nowMs), receiptId });
  const { jws, text } = await signReceipt(body, identity.receiptKeys.signer);
  return {
    commit: buildDecisionCommit({ ...attempt, decided, receiptId, nowMs, jws }),
    answer: { text, decision: decided.decision, reason: decided.reason, replayed: false },
  };
};
