/** A day of signed ALLOWs that consume from budgets, with the resulting logs and balances. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  applyConsumption,
  type Balances,
  budgetOf,
  type Capability,
  type Consumption,
  capabilityKeyOf,
  consumptionOf,
  emptyBalances,
  encodeUlid,
  formatTimestamp,
  type GrantId,
  type ReceiptBody,
  type ReceiptId,
  type Sha256,
  snapshotHashOf,
} from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { signReceipt } from '@svc/receipts';
import { checkContent, closeDays, type Store } from '@svc/service';
import { moveFirstDay } from '@svc/testkit';
import { identity, serviceOf } from '@svc/testkit/store/cold-world';
import { runSql } from '@svc/testkit/store/session';

export const GRANTS = ['A', 'B', 'C'].map((end) => `urn:svc:grant:01K${end.repeat(23)}` as GrantId);
export const USES = 10;
const AMOUNT = 700;

const VECTOR = new URL('../../../vectors/evaluate/v2-every-limit.json', import.meta.url);
const { body: BODY } = JSON.parse(readFileSync(VECTOR, 'utf8')).expected as { body: ReceiptBody };
const AUTHORITY = {
  ...BODY.authority,
  constraints: { currency: 'USD', maxAmount: 50_000, maxTotal: 1_000_000 },
} as Capability;
const KEY = capabilityKeyOf(nativeCrypto, AUTHORITY);

const signed = async (receiptId: ReceiptId, { balances, recordedAtMs }: Consumption, hash: Sha256) => {
  const at = formatTimestamp(recordedAtMs);
  const { issuer_resolution: resolution, status, ...evidence } = BODY.evidence;
  const body = {
    ...BODY,
    ...{ receipt_id: receiptId, grant_id: balances.grantId, evaluated_at: at, authority: AUTHORITY },
    expires_at: '2099-01-01T00:00:00Z',
    evidence: {
      ...evidence,
      consumption: { key: KEY, snapshot_hash: hash, version: balances.version },
      issuer_resolution: { ...resolution, resolved_at: at },
      status: { ...status, checked_at: at, valid_from: at },
    },
  };
  return (await signReceipt(body as ReceiptBody, identity.receiptKeys.signer)).jws;
};

/**
 * Each Grant is used `USES` times within the day; the Grants take turns. `pinned`: a hash that is signed instead of the
 * right one.
 */
export const createConsumingWorld = async (
  url: string,
  store: Store,
  day: string,
  pinned: (grantId: GrantId, version: number) => Sha256 | null,
): Promise<void> => {
  await moveFirstDay(url, day);
  await runSql(url, 'select svc_ensure_receipt_partitions($1, $1)', [day]);
  const all = GRANTS.map(emptyBalances);
  for (let at = 0; at < USES * GRANTS.length; at++) {
    const which = at % GRANTS.length;
    const balances = all[which] as Balances;
    const nowMs = Date.parse(`${day}T00:00:00Z`) + at * 60_000;
    const budget = budgetOf(AUTHORITY);
    const made = budget && consumptionOf({ key: KEY, budget, balances, amount: AMOUNT, nowMs });
    if (made === null) throw new Error('the budget is too small');
    const receiptId = `drc_${encodeUlid(nowMs, randomBytes(10))}` as ReceiptId;
    const hash = pinned(balances.grantId, balances.version) ?? snapshotHashOf(nativeCrypto, balances);
    await insert(url, receiptId, made, await signed(receiptId, made, hash));
    all[which] = applyConsumption(balances, made);
  }
  await runSql(
    url,
    `insert into consumption_balances (grant_id, key, spent_total, spent_in_period, uses_spent, limit_total, updated_at)
     select grant_id, key, sum(delta_total), 0, count(*), 1000000, max(recorded_at) from consumption_events group by 1, 2`,
  );
  await closeAll(store);
};

const insert = async (url: string, receiptId: ReceiptId, made: Consumption, jws: string): Promise<void> => {
  const { grantId, version } = made.balances;
  await runSql(
    url,
    `with r as (
       insert into receipts (receipt_id, relying_party, principal, grant_id, agent, decision, evaluated_at, jws, content_hash, production_check)
       values ($1, $2, $3, $4, $5, 'ALLOW', to_timestamp($6 / 1000.0), $7, sha256(convert_to($7, 'UTF8')), false)
       returning *
     )
     insert into consumption_events (grant_id, version, key, delta_total, delta_period, delta_uses, cause, cause_id, receipt_id, recorded_at)
     select grant_id, $8, $9, $10, 0, 1, 'consume', receipt_id, receipt_id, evaluated_at from r`,
    [
      ...[receiptId, BODY.relying_party, BODY.principal?.id, grantId, BODY.agent],
      ...[made.recordedAtMs, jws, version + 1, KEY, AMOUNT],
    ],
  );
};

const closeAll = async (store: Store): Promise<void> => {
  const stop = new AbortController().signal;
  const deps = serviceOf(store);
  await closeDays(deps, stop);
  await checkContent(deps, stop);
  while (!(await store.usage.seal(Date.now())));
  while ((await store.usage.countSealed(1_000)) > 0);
  while ((await store.evidence.nameFromReceipts(1_000)) > 0);
};
