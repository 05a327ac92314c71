/**
 * A chain of decisions on the budgets of one Grant: each is evaluated on the balances that the one before it leaves, so it
 * holds only if that one is stored (protocol §11).
 */
import { applyConsumption, type Balances, type Decided, found } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { internal } from '../errors.ts';
import {
  type Attempt,
  type Attempted,
  evaluateAttempt,
  type SignedDecision,
  signDecision,
} from './attempt.ts';
import type { StoredOutcome } from './committer.ts';

export interface Contender {
  readonly attempt: Attempt;
  /** Of the Proof; null where that is malformed. */
  readonly jti: string | null;
  readonly isSpent: boolean;
}

export interface Link<Item extends Contender = Contender> extends SignedDecision {
  readonly contender: Item;
  /** The balances once this one is stored. */
  readonly after: Balances;
}

/** Not evaluated: it could not be stored beside a rival of the chain, which has the same Proof or idempotency key. */
export interface Postponed<Item extends Contender = Contender> {
  readonly contender: Item;
  readonly rival: number;
  readonly loses: 'REPLAY' | 'IDEMPOTENCY_TAKEN';
}

export interface Chain<Item extends Contender = Contender> {
  /** Those that the first one rests on. */
  readonly balances: Balances;
  readonly links: readonly Link<Item>[];
  readonly postponed: readonly Postponed<Item>[];
  /** Not evaluated: their callers would not hear of it, and what they consumed would be lost on them. */
  readonly late: readonly Item[];
}

/** Storing a chain takes so long at most, except in trouble. */
const SETTLING_MS = 500;

type Deps = Pick<ServiceDeps, 'clock' | 'identity' | 'random'>;

export const buildChain = async <Item extends Contender>(
  deps: Deps,
  contenders: readonly Item[],
  balances: Balances,
  isSpent: (contender: Item) => boolean = (contender) => contender.isSpent,
): Promise<Chain<Item>> => {
  const signing: Promise<Link<Item>>[] = [];
  const postponed: Postponed<Item>[] = [];
  const late: Item[] = [];
  const proofs = new Map<string, number>();
  const keys = new Map<string, number>();
  let after = balances;
  for (const contender of contenders) {
    if (performance.now() > contender.attempt.answerByMs - SETTLING_MS) {
      late.push(contender);
      continue;
    }
    const spent = isSpent(contender);
    const rivalry = findRival(contender, spent ? NONE : proofs, keys);
    if (rivalry !== null) {
      postponed.push({ contender, ...rivalry });
      continue;
    }
    const nowMs = deps.clock.nowMs();
    const decided = decideOn(contender.attempt, after, { spent, nowMs });
    if (decided.consumption !== null) after = applyConsumption(after, decided.consumption);
    if (decided.decision === 'ALLOW' && contender.jti !== null) proofs.set(contender.jti, signing.length);
    const key = idempotencyKeyOf(contender);
    if (key !== null) keys.set(key, signing.length);
    signing.push(signLink(deps, contender, decided, { nowMs, after }));
  }
  return { balances, links: await Promise.all(signing), postponed, late };
};

/** No rival: a spent Proof can be denied beside any other decision. */
const NONE: ReadonlyMap<string, number> = new Map();

const decideOn = (
  attempt: Attempt,
  balances: Balances,
  { spent, nowMs }: { readonly spent: boolean; readonly nowMs: number },
): Decided => {
  const known = spent ? { balances: found(balances), spent: found(true) } : { balances: found(balances) };
  const decided = evaluateAttempt(attempt, nowMs, known);
  if (decided.kind === 'decided') return decided;
  throw internal(`unanswered look-ups: ${decided.lookups.map(({ fact }) => fact).join(', ')}`);
};

const signLink = async <Item extends Contender>(
  deps: Deps,
  contender: Item,
  decided: Decided,
  { nowMs, after }: { readonly nowMs: number; readonly after: Balances },
): Promise<Link<Item>> => ({
  ...(await signDecision(deps, contender.attempt, decided, nowMs)),
  contender,
  after,
});

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

const idempotencyKeyOf = ({ attempt: { caller, idempotency } }: Contender): string | null =>
  idempotency === null ? null : `${caller.subject} ${idempotency.key}`;

/** Who of a chain came to what, once its links have these outcomes. `OVERTAKEN`: nothing is settled. */
export const concludeChain = <Item extends Contender>(
  { links, postponed }: Chain<Item>,
  outcomes: readonly StoredOutcome[],
): (readonly [Item, Attempted])[] => {
  const outcomeOf = (i: number): StoredOutcome => outcomes[i] ?? 'UNKNOWN';
  const settled = links.map(
    ({ contender, answer }, i) => [contender, { outcome: outcomeOf(i), answer }] as const,
  );
  const lost = postponed.map(({ contender, rival, loses }) => {
    // Whoever has what the rival lost has it before this one too.
    const isLost = outcomeOf(rival) === 'STORED' || outcomeOf(rival) === loses;
    const outcome = isLost ? loses : 'OVERTAKEN';
    return [contender, { outcome, answer: null }] as const;
  });
  return [...settled, ...lost];
};

/** The balances that a chain leaves; null where that is not known. */
export const balancesAfter = (
  { balances, links }: Chain,
  outcomes: readonly StoredOutcome[],
): Balances | null => {
  if (outcomes.includes('UNKNOWN')) return null;
  return links[outcomes.lastIndexOf('STORED')]?.after ?? balances;
};
