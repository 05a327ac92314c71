/**
 * The dry run of a verification (protocol §7): the same gate, facts and checks, and no later stage. Nothing is signed,
 * spent or stored, and the facts may change right after they were read. So the answer is not a decision and does not
 * look like one.
 */
import type { Decided, DidKey, DidWeb, GrantId, ReasonCode } from '@svc/protocol';
import { found, unavailable } from '@svc/protocol';
import {
  type CapabilityFit,
  type Explanation,
  explain,
  type FailedCheck,
  REMEDIES,
} from '@svc/protocol/explain';
import type { ServiceDeps } from '../deps.ts';
import {
  contextOf,
  doOthersHold,
  evaluateAt,
  evaluateBeforeBalances,
  type Grounds,
  unanswered,
} from './evaluate.ts';

export interface DryRun {
  /** Not spelled `ALLOW` or `DENY`, because nobody may act on it. */
  readonly would: 'allow' | 'deny';
  readonly reason: ReasonCode | null;
  readonly remedy: string | null;
  readonly evaluatedAtMs: number;
  readonly relyingParty: DidWeb;
  /** Null unless P3 holds. */
  readonly principal: DidWeb | null;
  readonly grantId: GrantId | null;
  /** Null unless P9 holds. */
  readonly agent: DidKey | null;
  readonly outcomes: Decided['outcomes'];
  readonly failed: readonly FailedCheck[];
  readonly closest: CapabilityFit | null;
}

/**
 * The dry run, and the evaluation before balances were read. Rejects with `StoreError` when storage does not answer.
 */
export const dryRunOn = async (
  { store, clock }: Pick<ServiceDeps, 'store' | 'clock'>,
  grounds: Grounds,
): Promise<{ readonly dryRun: DryRun; readonly before: ReturnType<typeof evaluateBeforeBalances> }> => {
  const { call, loaded, entitled } = grounds;
  const { presented, tenant } = call;
  const { grant, proof } = presented;
  const query = grant.ok ? { grantId: grant.value.id, jti: proof.ok ? proof.value.jti : null } : null;
  const [budget] = query === null ? [] : await store.as(tenant).verify.findBudgets([query]);
  const spent = budget === undefined ? {} : { spent: found(budget.isSpent) };
  const known = budget === undefined ? {} : { ...spent, balances: found(budget.balances) };
  const nowMs = clock.nowMs();
  const before = evaluateBeforeBalances(nowMs, grounds, spent);
  const decided = before.kind === 'decided' ? before : evaluateAt(nowMs, grounds, known);
  if (decided.kind === 'undecided') throw unanswered(decided);
  const { reason, outcomes, evidence } = decided;
  const facts = { ...loaded.facts, ...known };
  // P19 can fail by `maxAmount` alone, without balances. So balances are explained only where every other check holds:
  // a caller whose request failed earlier must not learn them.
  const explained = doOthersHold(decided) ? facts : { ...facts, balances: unavailable };
  const explanation = explain(decided, presented, explained, contextOf(grounds, nowMs));
  const dryRun: DryRun = {
    would: decided.decision === 'ALLOW' ? 'allow' : 'deny',
    reason,
    remedy: reason === null ? null : remedyOf(reason, explanation),
    evaluatedAtMs: nowMs,
    relyingParty: entitled.caller.relyingParty.did,
    principal: evidence.P3?.grant.issuer ?? null,
    grantId: evidence.P3?.grant.id ?? null,
    agent: evidence.P9?.proof.agent ?? null,
    outcomes,
    ...explanation,
  };
  return { dryRun, before };
};

/** A request that is refused before the checks has no failed check; then the remedy is that of the reason. */
const remedyOf = (reason: ReasonCode, { failed }: Explanation): string =>
  failed.find((one) => one.reason === reason)?.remedy ?? REMEDIES[reason];
