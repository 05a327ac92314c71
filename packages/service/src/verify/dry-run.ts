/**
 * What a verification would come to (protocol §7): the same gate, facts and checks, and nothing after them. Nothing is
 * signed, spent or stored, and nothing keeps what was read from changing at once, so the answer is no decision and does
 * not look like one.
 */
import type { CheckId, CheckOutcome, DidKey, DidWeb, GrantId, ReasonCode } from '@svc/protocol';
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
  /** Not `ALLOW`: this is nothing to act on. */
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
  readonly outcomes: Readonly<Record<CheckId, CheckOutcome>>;
  readonly failed: readonly FailedCheck[];
  readonly closest: CapabilityFit | null;
}

/** With what was decided before balances were asked for. Rejects with `StoreError` when storage cannot be asked. */
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
  // Where P19 does not hold for `maxAmount` alone, it is judged without balances, and whoever asks can have failed before.
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

/** No check fails for what is refused before the checks. */
const remedyOf = (reason: ReasonCode, { failed }: Explanation): string =>
  failed.find((one) => one.reason === reason)?.remedy ?? REMEDIES[reason];
