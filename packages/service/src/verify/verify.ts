/**
 * `POST /verify` from parsed envelope to stored Receipt (interface §Verify, protocol §7 and §10), in these stages:
 *
 *   gate       may this relying party make the check?        `EntitledCaller`
 *   facts      the stored data of Grant and Principal        `LoadedFacts`
 *   evaluate   the engine's verdict                          `Decided`
 *   sign       the Receipt, and the row to be stored         `SignedDecision`
 *   commit     stored, or why it is not                      `StoredOutcome`
 *   answer     the Receipt, once it is known to be stored    `VerifyAnswer`
 *
 * When the commit finds that something has changed since it was read, the request is evaluated again. budgets.ts
 * evaluates, signs and commits decisions on balances.
 */
import type { Presented, VerifyRequest } from '@svc/protocol';
import type { Authenticator } from '../access/authenticator.ts';
import type { RpCaller } from '../access/caller.ts';
import { tenantOf } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal, ServiceError, serviceUnavailable, unauthorized } from '../errors.ts';
import { Batcher } from '../lib/batcher.ts';
import { withinMs } from '../lib/deadline.ts';
import { isTracing, noteOnSpan, type SpanFacts, traced } from '../lib/tracing.ts';
import { StoreError } from '../ports/store.ts';
import { findStoredAnswer, type Idempotency, type VerifyAnswer } from './answer.ts';
import type { Settled } from './budget-chain.ts';
import { Budgets } from './budgets.ts';
import { Committer } from './commit.ts';
import { type DryRun, dryRunOn } from './dry-run.ts';
import { evaluateBeforeBalances, type Grounds, VERIFY_DEADLINE_MS, type VerifyCall } from './evaluate.ts';
import { FactLoader, type FactsRequest, type LoadedFacts } from './facts.ts';
import { type EntitledCaller, EntitlementGate, type WithoutPlan } from './gate.ts';
import { isBound, signDecision } from './sign.ts';
import { GrantMemo } from './signatures.ts';

export type { DryRun, Idempotency, VerifyAnswer };

/** The first evaluation and at most three more. Each may be followed by the rounds of budgets.ts, which evaluate again. */
const MAX_EVALUATIONS = 4;

export interface VerifyOptions {
  /** When the caller must have its answer, by `performance.now()`; null: `VERIFY_DEADLINE_MS` from now. */
  readonly answerByMs?: number | null;
  /** Called before the verification waits for a host outside the service. */
  readonly noteRemoteWait?: () => void;
}

interface InTimeOptions extends VerifyOptions {
  readonly idempotency: Idempotency | null;
}

/** One confirmation serves all repeated requests that wait for it. */
const CONFIRMING = { maxBatch: 1_024, maxInFlight: 1, maxWaiting: 8_192 };

/** Called for decisions, for metrics. */
export interface VerifyObserver {
  readonly onAnswer?: (answer: VerifyAnswer) => void;
  /** Called for every production check that no plan covers. */
  readonly onWithoutPlan?: (what: WithoutPlan) => void;
}

export class Verifier {
  private readonly gate: EntitlementGate;
  private readonly facts: FactLoader;
  private readonly memo: GrantMemo;
  private readonly committer: Committer;
  private readonly budgets: Budgets;
  private readonly confirmer: Batcher<null, null>;

  constructor(
    private readonly deps: ServiceDeps,
    private readonly authenticator: Pick<Authenticator, 'readAgain'>,
    private readonly observer: VerifyObserver = {},
  ) {
    this.gate = new EntitlementGate(deps, (what) => observer.onWithoutPlan?.(what));
    this.facts = new FactLoader(deps);
    this.memo = new GrantMemo(deps.crypto);
    this.committer = new Committer(deps.store, deps.log);
    this.budgets = new Budgets(deps, this.committer);
    this.confirmer = new Batcher(async (asking) => {
      await deps.store.verify.confirmStored();
      return asking;
    }, CONFIRMING);
  }

  /**
   * Decides one request. Rejects with:
   * - `SERVICE_UNAVAILABLE` when nothing could be decided, also because of a hold, or when it is not known whether the
   *   decision is stored;
   * - `CONFLICT` for an idempotency key that was used with another body;
   * - `PLAN_REQUIRED` when no plan covers the check;
   * - `UNAUTHORIZED` when the API key has been revoked meanwhile.
   */
  async verify(
    caller: RpCaller,
    request: VerifyRequest,
    idempotency: Idempotency | null = null,
    options: VerifyOptions = {},
  ): Promise<VerifyAnswer> {
    // A decision under way at the deadline may still be stored; the caller receives that this is not known.
    const answer = await this.inTime(caller, request, { idempotency, ...options }, (call) =>
      this.findOrDecide(caller, call),
    );
    this.observer.onAnswer?.(answer);
    if (isTracing()) noteOnSpan(factsOf(answer));
    return answer;
  }

  /**
   * The result that `verify` would have, with every check that fails. Spends, signs and stores nothing. The caller's
   * key and all facts are read again from storage, because no commit does that here. Rejects as `verify` does, except
   * with `CONFLICT`.
   */
  dryRun(caller: RpCaller, request: VerifyRequest, options: VerifyOptions = {}): Promise<DryRun> {
    return this.inTime(caller, request, { idempotency: null, ...options }, async (call) => {
      const entitled = await this.entitleAgain(caller, call.presented);
      const grounds = { call, entitled, loaded: await this.loadAnew(call) };
      const { dryRun, before } = await dryRunOn(this.deps, grounds);
      if (grounds.loaded.isWithheld) refuseWithheld(grounds, before);
      return dryRun;
    });
  }

  /**
   * Loads facts of a Grant without a decision. They are read again from storage, because no commit reads them again.
   * Documents are fetched within the limits of verifications, as part of the same fetches. Rejects when storage does
   * not answer.
   */
  loadAnew(request: FactsRequest): Promise<LoadedFacts> {
    this.facts.forget(request.presented);
    return this.facts.load(request, false);
  }

  /**
   * Parses the request and runs `work` on it within its deadline. Rejects while there is a hold, before and after
   * `work`.
   */
  private async inTime<T>(
    caller: RpCaller,
    request: VerifyRequest,
    { idempotency, answerByMs: dueMs = null, noteRemoteWait = () => {} }: InTimeOptions,
    work: (call: VerifyCall) => Promise<T>,
  ): Promise<T> {
    this.deps.holds.assertNone();
    const answerByMs = dueMs ?? performance.now() + VERIFY_DEADLINE_MS;
    const leftMs = answerByMs - performance.now();
    if (leftMs <= 0) throw serviceUnavailable('verify: deadline before the first look-up');
    const { presented, crypto } = this.memo.read(request);
    const tenant = tenantOf(caller);
    const call = { request, presented, idempotency, tenant, answerByMs, crypto, noteRemoteWait };
    try {
      const result = await withinMs(leftMs, work(call), () => {
        throw serviceUnavailable('verify: deadline');
      });
      // If the process was suspended meanwhile, or its database was replaced, it must not answer with what it read
      // before.
      this.deps.holds.assertNone();
      return result;
    } catch (error) {
      if (error instanceof StoreError) throw serviceUnavailable(error.message, error);
      throw error;
    }
  }

  private async findOrDecide(caller: RpCaller, call: VerifyCall): Promise<VerifyAnswer> {
    const prior = await this.findPriorAnswer(caller, call);
    if (prior !== null) {
      // No commit follows that would read the key again, so it is read now.
      await this.readAgain(caller);
      return prior;
    }
    try {
      return await this.decide(caller, call);
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'PLAN_REQUIRED')) throw error;
      // The check that used up the plan may have been the same request, stored meanwhile.
      const stored = await this.findPriorAnswer(caller, call);
      if (stored === null) throw error;
      return stored;
    }
  }

  private async decide(first: RpCaller, call: VerifyCall): Promise<VerifyAnswer> {
    const { presented } = call;
    let entitled =
      traced('gate', () => this.gate.guess(first, presented)) ?? (await this.entitleAgain(first, presented));
    let isProofSpent = false;
    for (let evaluation = 1; evaluation <= MAX_EVALUATIONS; evaluation++) {
      if (performance.now() >= call.answerByMs) throw serviceUnavailable('verify: too late to decide');
      const loaded = await traced('facts', () => this.facts.load(call, isProofSpent));
      const { outcome, answer } = await this.decideOn({ call, entitled, loaded });
      switch (outcome) {
        case 'STORED':
          if (answer === null) throw internal('stored without having been evaluated');
          this.gate.noteStored(entitled);
          if (answer.decision === 'ALLOW') this.facts.noteAllowed(presented, call.crypto);
          return answer;
        case 'REPLAY':
          isProofSpent = true;
          break;
        case 'STALE':
        case 'KEY_REVOKED':
        case 'PLAN_REQUIRED':
          if (outcome !== 'PLAN_REQUIRED') this.facts.forget(presented);
          entitled = await this.entitleAgain(entitled.caller, presented);
          break;
        case 'IDEMPOTENCY_TAKEN': {
          const prior = await this.findPriorAnswer(entitled.caller, call);
          if (prior !== null) {
            // In a chain of budgets only the rival was sent to the commit, which reads the API key again. So it is read
            // now.
            await this.readAgain(entitled.caller);
            return prior;
          }
          // The request that held the idempotency key was not stored, since its Proof was spent. The key is free again.
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

  private async decideOn(grounds: Grounds): Promise<Settled> {
    this.deps.holds.assertNone();
    const nowMs = this.deps.clock.nowMs();
    const evaluation = traced('evaluate', () => evaluateBeforeBalances(nowMs, grounds));
    if (grounds.loaded.isWithheld) refuseWithheld(grounds, evaluation);
    if (evaluation.kind === 'on balances') return this.budgets.decide(grounds, evaluation.grantId);
    const signing = () => signDecision(this.deps, grounds, evaluation, nowMs);
    const { commit, answer } = await traced('sign', signing);
    return { outcome: await this.committer.commit(commit, grounds.call.tenant), answer };
  }

  private entitleAgain(caller: RpCaller, presented: Presented): Promise<EntitledCaller> {
    return traced('gate', async () => this.gate.entitle(await this.readAgain(caller), presented));
  }

  /** The caller as stored now. Rejects with `UNAUTHORIZED` when its key is no longer live. */
  private async readAgain(caller: RpCaller): Promise<RpCaller> {
    const live = await this.authenticator.readAgain(caller.key.keyHash);
    if (live === null) throw unauthorized('This API key is not live.');
    return live;
  }

  private async findPriorAnswer(
    caller: RpCaller,
    { idempotency, tenant }: VerifyCall,
  ): Promise<VerifyAnswer | null> {
    if (idempotency === null) return null;
    const prior = await findStoredAnswer(this.deps.store.as(tenant).verify, caller.subject, idempotency);
    // The first request may have had no answer: its decision can be visible before it is durable on more than one
    // machine.
    if (prior !== null) await this.confirmer.submit(null, tenant);
    return prior;
  }
}

/**
 * Throws `SERVICE_UNAVAILABLE` for a decision that a withheld Grant must not have. A restore may have lost the binding
 * of its id, or what was drawn on its budgets. An ALLOW could then accept a second Grant under the id, or overdraw a
 * budget. The holder of the Grant needs the operator's release, or a new Grant.
 */
const refuseWithheld = ({ loaded }: Grounds, evaluation: ReturnType<typeof evaluateBeforeBalances>): void => {
  const draws = evaluation.kind === 'on balances';
  if (draws || (evaluation.decision === 'ALLOW' && !isBound(loaded.facts)))
    throw serviceUnavailable('verify: the Grant is withheld since a restore; see svc-admin restore withheld');
};

const factsOf = ({ decision, reason, replayed }: VerifyAnswer): SpanFacts => ({
  'svc.decision': decision,
  'svc.replayed': replayed,
  ...(reason !== null && { 'svc.reason': reason }),
});
