/**
 * The budgets of every Grant with consumption events: the log has no gap and replays to the balances; each consume matches
 * its Receipt, which pins the balances before it; each restore matches its attestation and gives back exactly what was
 * consumed (protocol §11). The converse, that a Receipt which consumed has its event, is checked in receipts.ts. Whether a cold
 * Receipt is there is checked in cold-facts.ts; the balances that it pins are not compared any more.
 */
import {
  applyConsumption,
  type Balances,
  budgetOf,
  emptyBalances,
  findBalance,
  type GrantId,
  type Limits,
  type ReceiptBody,
  type Sha256,
  snapshotHashOf,
} from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { receiptTextOf } from '@svc/receipts';
import { dayOfReceipt } from '@svc/transparency';
import { type Check, type CheckContext, pages } from '../check.ts';
import { listColdDays } from '../cold-days.ts';

interface StoredBalance {
  readonly key: Sha256;
  readonly limits: Limits;
  readonly text: string;
}

interface StoredEvent {
  readonly version: number;
  readonly key: Sha256;
  readonly deltaTotal: number;
  readonly deltaPeriod: number;
  readonly deltaUses: number;
  readonly periodStartMs: number | null;
  readonly recordedAtMs: number;
  readonly cause: 'consume' | 'restore' | 'restore_reversal';
  readonly receiptId: string;
  /** Whether the attestation it names exists and the amounts it restores or consumes again match. */
  readonly isCaused: boolean;
}

const GRANTS = `
  select grant_id as "grantId" from (
    select grant_id from consumption_events union select grant_id from consumption_balances
  ) g where grant_id > $1 order by grant_id limit $2`;

const BALANCES = `
  select key, json_build_object('total', limit_total, 'perPeriod', limit_per_period, 'uses', limit_uses) as limits,
    concat_ws(' ', spent_total, spent_in_period, coalesce(svc_ms(period_start)::text, '-'), uses_spent, svc_ms(updated_at))
      as text
  from consumption_balances where grant_id = $1 order by key`;

const PAGE = 500;

const EVENTS = `
  select e.version::float8 as version, e.key, e.delta_total::float8 as "deltaTotal",
    e.delta_period::float8 as "deltaPeriod", e.delta_uses::float8 as "deltaUses",
    svc_ms(e.period_start)::float8 as "periodStartMs", svc_ms(e.recorded_at)::float8 as "recordedAtMs",
    e.cause, e.receipt_id as "receiptId",
    e.cause = 'consume' or (a.consumption_cause = e.cause and a.consumption_version = e.version
      and a.receipt_id = e.receipt_id and c.grant_id = e.grant_id and c.key = e.key and c.version < e.version
      and c.period_start is not distinct from e.period_start
      and (e.cause = 'restore_reversal' or (c.delta_total, c.delta_period, c.delta_uses)
        = (-e.delta_total, -e.delta_period, -e.delta_uses))) is true as "isCaused"
  from consumption_events e
  left join attestations a on a.attestation_id = e.cause_id and e.cause <> 'consume'
  left join consumption_events c on c.receipt_id = e.receipt_id and c.cause = 'consume' and e.cause <> 'consume'
  where e.grant_id = $1 and e.version > $2 order by e.version limit ${PAGE}`;

/** Ids as a parameter: a join would make the planner consider every partition. */
const RECEIPTS = 'select receipt_id as "receiptId", jws from receipts where receipt_id = any ($1::text[])';

export const consumptionCheck: Check = {
  name: 'consumption',
  promise:
    'every budget is what its log adds up to, and every movement in that has its Receipt, but for those of cold days, or its attestation',
  countSql: 'select count(*) from consumption_events',
  async run(context) {
    const cold = await listColdDays(context);
    for await (const rows of pages<{ grantId: GrantId }>(context, GRANTS, ({ grantId }) => grantId))
      for (const { grantId } of rows) await checkGrant(context, grantId, cold);
  },
};

const checkGrant = async (
  context: CheckContext,
  grantId: GrantId,
  cold: ReadonlySet<string>,
): Promise<void> => {
  const stored = await context.query<StoredBalance>(BALANCES, [grantId]);
  const limitsOf = new Map(stored.map(({ key, limits }) => [key, limits]));
  let balances = emptyBalances(grantId);
  for (;;) {
    const events = await context.query<StoredEvent>(EVENTS, [grantId, balances.version]);
    const receipts = await loadReceipts(context, events);
    for (const event of events) {
      const limits = limitsOf.get(event.key);
      if (event.version !== balances.version + 1)
        return context.report(grantId, `its log has no version ${balances.version + 1}`);
      if (limits === undefined) return context.report(grantId, `there is no balance of ${event.key}`);
      const receipt = receipts.get(event.receiptId);
      const isConsume = event.cause === 'consume';
      const isCold = isConsume && receipt === undefined && cold.has(dayOfReceipt(event.receiptId) ?? '');
      for (const problem of isCold ? [] : problemsOf(event, receipt, balances, limits))
        context.report(grantId, `version ${event.version}: ${problem}`);
      try {
        balances = applyConsumption(balances, { ...event, limits });
      } catch (error) {
        return context.report(grantId, `version ${event.version}: ${String(error)}`);
      }
    }
    context.advance(events.length);
    if (events.length < PAGE) break;
  }
  for (const { key, text } of stored)
    if (text !== textOf(balances, key))
      context.report(grantId, `the balance of ${key} is not what its log adds up to`);
};

/** The stored Receipts among those that consume events name. */
const loadReceipts = async (
  { query }: CheckContext,
  events: readonly StoredEvent[],
): Promise<ReadonlyMap<string, string>> => {
  const ids = events.filter(({ cause }) => cause === 'consume').map(({ receiptId }) => receiptId);
  if (ids.length === 0) return new Map();
  const rows = await query<{ receiptId: string; jws: string }>(RECEIPTS, [ids]);
  return new Map(rows.map(({ receiptId, jws }) => [receiptId, jws]));
};

function* problemsOf(
  event: StoredEvent,
  jws: string | undefined,
  before: Balances,
  limits: Limits,
): Generator<string> {
  if (event.cause !== 'consume') {
    if (!event.isCaused) yield `it is not the ${event.cause} of its attestation`;
    return;
  }
  const text = jws === undefined ? null : receiptTextOf(jws);
  if (text === null) return yield `there is no Receipt ${event.receiptId}`;
  const {
    decision,
    grant_id: grantId,
    evaluated_at: evaluatedAt,
    authority,
    evidence,
  } = JSON.parse(text) as ReceiptBody;
  if (decision !== 'ALLOW' || grantId !== before.grantId)
    return yield `${event.receiptId} allows nothing of this Grant`;
  if (Date.parse(evaluatedAt) !== event.recordedAtMs)
    yield `${event.receiptId} was evaluated at another time`;
  const signed = authority ? budgetOf(authority)?.limits : undefined;
  if (LIMITS.some((name) => signed?.[name] !== limits[name]))
    yield `${event.receiptId} was given other limits`;
  const { key, version, snapshot_hash: hash } = evidence.consumption ?? {};
  if (key !== event.key || version !== before.version || hash !== snapshotHashOf(nativeCrypto, before))
    yield `${event.receiptId} pins other balances than those before it`;
}

const LIMITS = ['total', 'perPeriod', 'uses'] as const;

const textOf = (balances: Balances, key: Sha256): string | null => {
  const balance = findBalance(balances, key);
  if (balance === null) return null;
  const { spentTotal, spentInPeriod, periodStartMs, usesSpent, updatedAtMs } = balance;
  return [spentTotal, spentInPeriod, periodStartMs ?? '-', usesSpent, updatedAtMs].join(' ');
};
