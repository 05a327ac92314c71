/**
 * `POST /verify` from parsed envelope to stored Receipt (interface §Verify, protocol §7 and §10): ask whether a plan
 * covers it, load facts, evaluate, sign, commit; again when the commit finds that something has changed. No answer
 * leaves before its Receipt is known to be stored.
 */
import {
  type GrantId,
  parsePresented,
  type ReceiptBody,
  type Undecided,
  type VerifyRequest,
} from '@svc/protocol';
import { receiptTextOf } from '@svc/receipts';
import type { Authenticator } from '../access/authenticator.ts';
import type { RpCaller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, internal, ServiceError, serviceUnavailable, unauthorized } from '../errors.ts';
import { OverloadedError } from '../lib/batcher.ts';
import { withinMs } from '../lib/deadline.ts';
import { StoreError } from '../ports/store.ts';
import {
  type Asked,
  type Attempt,
  type Attempted,
  evaluateAttempt,
  type Idempotency,
  signDecision,
  type VerifyAnswer,
} from './attempt.ts';
import { Budgets } from './budgets.ts';
import { checkedOnce } from './checked-once.ts';
import { Committer } from './committer.ts';
import { EntitlementGate, type WithoutPlan } from './entitlement-gate.ts';
import { FactLoader } from './fact-loader.ts';
import { GrantSignatureMemo } from './grant-signature-memo.ts';

export type { Idempotency, VerifyAnswer };

/** The first evaluation and at most three more. */
const MAX_EVALUATIONS = 4;
/** Below the two seconds within which a caller must hear 503 when storage is gone. */
const DEADLINE_MS = 1_700;

export interface VerifierOptions {
  /** Hears of every production check that no plan covers. */
  readonly onWithoutPlan?: (what: WithoutPlan) => void;
}

export class Verifier {
  private readonly facts: FactLoader;
  private readonly committer: Committer;
  private readonly memo: GrantSignatureMemo;
  private readonly gate: EntitlementGate;
  private readonly budgets: Budgets;

  constructor(
    private readonly deps: ServiceDeps,
    private readonly authenticator: Pick<Authenticator, 'readAgain'>,
    { onWithoutPlan = () => {} }: VerifierOptions = {},
  ) {
    this.facts = new FactLoader(deps);
    this.committer = new Committer(deps.store, deps.log);
    this.memo = new GrantSignatureMemo(deps.crypto);
    this.gate = new EntitlementGate(deps, onWithoutPlan);
    this.budgets = new Budgets(deps, this.committer);
  }

  /**
   * Decides one request. Rejects with `SERVICE_UNAVAILABLE` when nothing could be decided or it is not known whether
   * the decision is stored, `CONFLICT` for an idempotency key with another body, `PLAN_REQUIRED` when no plan covers it,
   * `UNAUTHORIZED` when the key has been revoked meanwhile.
   */
  async verify(
    caller: RpCaller,
    request: VerifyRequest,
    idempotency: Idempotency | null,
  ): Promise<VerifyAnswer> {
    try {
      const asked = { request, idempotency, answerByMs: performance.now() + DEADLINE_MS };
      // What is under way then may still be stored; the caller hears that it is not known.
      return await withinMs(DEADLINE_MS, this.findOrDecide(caller, asked), () => {
        throw serviceUnavailable('verify: deadline');
      });
    } catch (error) {
      if (error instanceof StoreError || error instanceof OverloadedError)
        throw serviceUnavailable(error.message, error);
      throw error;
    }
  }

  private async findOrDecide(caller: RpCaller, asked: Asked): Promise<VerifyAnswer> {
    const { idempotency } = asked;
    const prior = idempotency === null ? null : await this.findPrior(caller, idempotency);
    if (prior === null) return this.decideOnce(caller, asked);
    // Nothing is committed here that would read the key again, so it is read now.
    await this.authenticateAgain(caller);
    return prior;
  }

  /** Where no plan covers one more check, the last that it covered may be the same request, stored meanwhile. */
  private async decideOnce(caller: RpCaller, asked: Asked): Promise<VerifyAnswer> {
    try {
      return await this.decide(caller, asked);
    } catch (error) {
      const { idempotency } = asked;
      const isRefused = error instanceof ServiceError && error.code === 'PLAN_REQUIRED';
      const prior = isRefused && idempotency !== null ? await this.findPrior(caller, idempotency) : null;
      if (prior === null) throw error;
      return prior;
    }
  }

  private async decide(first: RpCaller, asked: Asked): Promise<VerifyAnswer> {
    const { request, idempotency, answerByMs } = asked;
    const presented = parsePresented(request);
    let admission =
      this.gate.guess(first, presented) ?? this.gate.admit(await this.authenticateAgain(first), presented);
    const crypto = checkedOnce(this.memo.cryptoFor(presented));
    let proofSpent = false;
    for (let evaluation = 1; evaluation <= MAX_EVALUATIONS; evaluation++) {
      if (performance.now() >= answerByMs) throw serviceUnavailable('verify: too late to decide');
      const loaded = await this.facts.load(presented, proofSpent);
      const attempt = { ...admission, ...loaded, ...asked, presented, crypto };
      const { outcome, answer } = await this.attempt(attempt);
      switch (outcome) {
        case 'STORED':
          if (answer === null) throw internal('stored without having been evaluated');
          this.gate.noteStored(admission);
          return answer;
        case 'REPLAY':
          proofSpent = true;
          break;
        case 'KEY_REVOKED':
        case 'STALE':
          this.facts.forget(presented);
          admission = this.gate.admit(await this.authenticateAgain(admission.caller), presented);
          break;
        case 'PLAN_REQUIRED':
          admission = this.gate.admit(await this.authenticateAgain(admission.caller), presented);
          break;
        case 'IDEMPOTENCY_TAKEN': {
          const prior = idempotency === null ? null : await this.findPrior(admission.caller, idempotency);
          if (prior !== null) return prior;
          // Whoever held the key has let go of it: its Proof was spent. Now it is free.
          break;
        }
        case 'CLOCK':
          this.deps.log.warn('verify.clock', { evaluation });
          await this.deps.clock.resync();
          break;
        case 'OVERTAKEN':
          break;
        case 'LOCKED':
        case 'REFUSED':
        case 'UNKNOWN':
          throw serviceUnavailable(`commit: ${outcome}`);
      }
    }
    throw serviceUnavailable(`verify: not settled after ${MAX_EVALUATIONS} evaluations`);
  }

  private async attempt(attempt: Attempt): Promise<Attempted> {
    const nowMs = this.deps.clock.nowMs();
    const evaluation = evaluateAttempt(attempt, nowMs);
    if (evaluation.kind === 'undecided') return this.budgets.attempt(attempt, budgetOf(evaluation));
    const { commit, answer } = await signDecision(this.deps, attempt, evaluation, nowMs);
    const [outcome = 'UNKNOWN'] = await this.committer.submit([commit]);
    return { outcome, answer };
  }

  /** The caller as storage has it now; `UNAUTHORIZED` when its key is no longer live. */
  private async authenticateAgain(caller: RpCaller): Promise<RpCaller> {
    const live = await this.authenticator.readAgain(caller.key.keyHash);
    if (live === null) throw unauthorized('This API key is not live.');
    return live;
  }

  private async findPrior(caller: RpCaller, { key, bodyHash }: Idempotency): Promise<VerifyAnswer | null> {
    const prior = await this.deps.store.verify.findIdempotent(caller.subject, key);
    if (prior === null) return null;
    if (prior.bodyHash !== bodyHash)
      throw conflict(
        'Idempotency-Key: this key was used with another body in the last 10 minutes; use a fresh one.',
      );
    const text = receiptTextOf(prior.receipt.jws);
    if (text === null) throw internal(`stored receipt ${prior.receipt.receiptId}`);
    const { decision, reason } = JSON.parse(text) as Pick<ReceiptBody, 'decision' | 'reason'>;
    return { text, decision, reason, replayed: true };
  }
}

/** The loader answers every look-up but the one of balances. */
const budgetOf = ({ lookups }: Undecided): GrantId => {
  const [lookup, ...others] = lookups;
  if (lookup?.fact === 'balances' && others.length === 0) return lookup.grantId;
  throw internal(`unanswered look-ups: ${lookups.map(({ fact }) => fact).join(', ')}`);
};
