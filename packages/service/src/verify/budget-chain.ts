/**
 * A chain of decisions on the budgets of one Grant. Each decision is evaluated on the balances that the decision before
 * it leaves, so it is valid only if that decision is stored (protocol §11).
 */
import { applyConsumption, type Balances, type Decided, found } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { ServiceError, serviceUnavailable } from '../errors.ts';
import type { BudgetFacts, BudgetQuery } from '../ports/consumption.ts';
import type { VerifyAnswer } from './answer.ts';
import type { StoredOutcome } from './commit.ts';
import { doOthersHold, evaluateAt, evaluateBeforeBalances, type Grounds, unanswered } from './evaluate.ts';
import { type DraftedDecision, draftDecision, type SignedDecision, signDraft } from './sign.ts';

/** A request that is decided on balances. */
export interface Contender extends BudgetQuery {
  readonly grounds: Grounds;
}

/** The outcome of a decision, and its answer. */
export interface Settled {
  readonly outcome: StoredOutcome;
  /** Null: the request was not evaluated, and nothing is stored for it. */
  readonly answer: VerifyAnswer | null;
}

interface Link extends SignedDecision {
  readonly contender: Contender;
}

/**
 * A contender that was not evaluated. It could not be stored together with a rival: an earlier link of the chain that
 * has the same Proof or idempotency key.
 */
interface Postponed {
  readonly contender: Contender;
  /** Index of the rival in `Chain.links`. */
  readonly rival: number;
  readonly loses: 'REPLAY' | 'IDEMPOTENCY_TAKEN';
}

export interface Chain {
  readonly links: readonly Link[];
  readonly postponed: readonly Postponed[];
  /**
   * Not evaluated: the answer would miss the caller's deadline, so the consumption would be charged without an answer.
   */
  readonly late: readonly Contender[];
  /** Contenders whose Receipts could not be signed. Nothing is stored for them. */
  readonly unsigned: readonly (readonly [Contender, ServiceError])[];
}

/** The most that storing a chain normally takes. */
const SETTLING_MS = 500;

type Deps = Pick<ServiceDeps, 'clock' | 'identity' | 'random'>;

/**
 * Evaluates contenders for the budgets of one Grant in order, each with the facts that were read under the Grant's
 * lock.
 */
export const buildChain = async (
  deps: Deps,
  contenders: readonly (readonly [Contender, BudgetFacts])[],
): Promise<Chain> => {
  const signing: Promise<Link>[] = [];
  const postponed: Postponed[] = [];
  const late: Contender[] = [];
  const unsigned: (readonly [Contender, ServiceError])[] = [];
  const proofs = new Map<string, number>();
  const keys = new Map<string, number>();
  let after: Balances | null = null;
  for (const [contender, { balances, isSpent }] of contenders) {
    const { grounds, jti } = contender;
    if (isLate(contender)) {
      late.push(contender);
      continue;
    }
    const rivalry = findRival(contender, isSpent ? NONE : proofs, keys);
    if (rivalry !== null) {
      postponed.push({ contender, ...rivalry });
      continue;
    }
    const nowMs = deps.clock.nowMs();
    const before: Balances = after ?? balances;
    const decided = evaluateOnBalances(before, grounds, isSpent, nowMs);
    const draft = draftOrRefusal(deps, grounds, decided, nowMs);
    if (draft instanceof ServiceError) {
      unsigned.push([contender, draft]);
      continue;
    }
    after = decided.consumption === null ? before : applyConsumption(before, decided.consumption);
    if (decided.decision === 'ALLOW' && jti !== null) proofs.set(jti, signing.length);
    const key = idempotencyKeyOf(contender);
    if (key !== null) keys.set(key, signing.length);
    signing.push(signDraft(deps, draft).then((signed) => ({ ...signed, contender })));
  }
  try {
    return { links: await Promise.all(signing), postponed, late, unsigned };
  } catch (error) {
    // One unsigned link invalidates every later link, so this chain is dropped. Chains of other Grants are still
    // stored.
    if (!(error instanceof ServiceError)) throw error;
    const refused = contenders.map(([contender]) => [contender, error] as const);
    return { links: [], postponed: [], late: [], unsigned: refused };
  }
};

/**
 * Where the signer cannot take a Receipt, only its contender is refused. The next one starts from the same balances.
 */
const draftOrRefusal = (
  deps: Deps,
  grounds: Grounds,
  decided: Decided,
  nowMs: number,
): DraftedDecision | ServiceError => {
  try {
    return draftDecision(deps, grounds, decided, nowMs);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
};

/** A request with a spent Proof has no rival by its Proof: its denial can be stored beside any other decision. */
const NONE: ReadonlyMap<string, number> = new Map();

/**
 * Decides without balances where another check has failed since the request began to wait for the lock (protocol §7).
 */
const evaluateOnBalances = (
  balances: Balances,
  grounds: Grounds,
  isSpent: boolean,
  nowMs: number,
): Decided => {
  const spent = isSpent ? { spent: found(true) } : {};
  const decided = evaluateAt(nowMs, grounds, { ...spent, balances: found(balances) });
  if (decided.kind === 'undecided') throw unanswered(decided);
  if (doOthersHold(decided)) return decided;
  const without = evaluateBeforeBalances(nowMs, grounds, spent);
  return without.kind === 'decided' ? without : decided;
};

const findRival = (
  contender: Contender,
  proofs: ReadonlyMap<string, number>,
  keys: ReadonlyMap<string, number>,
): Pick<Postponed, 'rival' | 'loses'> | null => {
  const ofKey = keys.get(idempotencyKeyOf(contender) ?? '');
  if (ofKey !== undefined) return { rival: ofKey, loses: 'IDEMPOTENCY_TAKEN' };
  const ofProof = proofs.get(contender.jti ?? '');
  return ofProof === undefined ? null : { rival: ofProof, loses: 'REPLAY' };
};

const idempotencyKeyOf = ({ grounds: { call, entitled } }: Contender): string | null =>
  call.idempotency === null ? null : `${entitled.caller.subject} ${call.idempotency.key}`;

/** The result of each contender of a chain, from the outcomes of its links. `OVERTAKEN`: it must be evaluated again. */
export const concludeChain = (
  { links, postponed, late, unsigned }: Chain,
  outcomes: readonly StoredOutcome[],
): (readonly [Contender, Settled | ServiceError])[] => {
  const outcomeOf = (i: number): StoredOutcome => outcomes[i] ?? 'UNKNOWN';
  const settled = links.map(
    ({ contender, answer }, i) => [contender, { outcome: outcomeOf(i), answer }] as const,
  );
  const lost = postponed.map(({ contender, rival, loses }) => {
    // If another request took the rival's Proof or key, this contender has lost it too.
    const isLost = outcomeOf(rival) === 'STORED' || outcomeOf(rival) === loses;
    const outcome = isLost ? loses : 'OVERTAKEN';
    return [contender, { outcome, answer: null }] as const;
  });
  const refused = late.map((contender) => [contender, tooLate()] as const);
  return [...settled, ...lost, ...refused, ...unsigned];
};

const isLate = ({ grounds }: Contender): boolean => performance.now() > grounds.call.answerByMs - SETTLING_MS;

/** Throws where a decision that begins now might not be stored by the caller's deadline. */
export const refuseLate = (contender: Contender): void => {
  if (isLate(contender)) throw tooLate();
};

const tooLate = () => serviceUnavailable('budgets: too late to answer');
