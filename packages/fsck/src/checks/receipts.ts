/**
 * Checks that every Receipt verifies under the service's keys, that its bytes have the stored hash, that the
 * denormalised columns for lists and counts agree with it, and that the evidence it names is kept.
 */
import { createHash } from 'node:crypto';
import { type ReceiptBody, type ReceiptId, ulidOf, ulidTimeMs } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { receiptTextOf, verifyReceipt } from '@svc/receipts';
import { evidenceOf } from '@svc/service';
import { type Check, type CheckContext, differing, pages } from '../check.ts';
import { isOfDay, listReceiptDays } from '../receipt-days.ts';

/** A Receipt with the columns by which it is found, and with what other tables have of it. */
export interface ListedReceipt {
  readonly receiptId: ReceiptId;
  readonly relyingParty: string;
  readonly principal: string | null;
  readonly grantId: string | null;
  readonly agent: string | null;
  readonly decision: string;
  readonly reason: string | null;
  readonly evaluatedAtMs: string;
  readonly jws: string;
  readonly contentHash: Buffer;
  /** For an ALLOW, the `grant_hash` that is bound to its Grant id. */
  readonly allowedGrantHash: string | null;
  /** Grant, budget key and previous version of its consume event. */
  readonly consumed: string | null;
}

const SQL = (day: string) => `
  select receipt_id as "receiptId", relying_party as "relyingParty", principal, grant_id as "grantId", agent, decision,
    reason, svc_ms(evaluated_at) as "evaluatedAtMs", jws, content_hash as "contentHash",
    case decision when 'ALLOW' then (select a.grant_hash from allowed_grants a where a.grant_id = receipts.grant_id) end
      as "allowedGrantHash",
    (select concat_ws(' ', e.grant_id, e.key, e.version - 1) from consumption_events e
      where e.receipt_id = receipts.receipt_id and e.cause = 'consume') as consumed
  from receipts where receipt_id > $1 and ${isOfDay(day)} order by receipt_id limit $2`;

export const receiptCheck: Check = {
  name: 'receipts',
  promise: 'every Receipt is signed by the service, unaltered, listed as what it says, and its evidence kept',
  countSql: 'select count(*) from receipts',
  async run(context) {
    for (const day of await listReceiptDays(context))
      for await (const rows of pages<ListedReceipt>(context, SQL(day), ({ receiptId }) => receiptId)) {
        await checkReceipts(context, rows);
        context.advance(rows.length);
      }
  },
};

/** `onReceipt` is called with each Receipt that the service has signed. */
export const checkReceipts = async (
  context: CheckContext,
  rows: readonly ListedReceipt[],
  onReceipt: (receipt: ReceiptBody) => void = () => {},
): Promise<void> => {
  const named = new Map<string, ReceiptId>();
  for (const row of rows) {
    const hear = (receipt: ReceiptBody) => {
      for (const hash of evidenceOf(receipt)) named.set(hash, row.receiptId);
      onReceipt(receipt);
    };
    for (const problem of problemsOf(context, row, hear)) context.report(row.receiptId, problem);
  }
  await checkEvidence(context, named);
};

/** The body of a Receipt that the service has signed, or what is wrong with its bytes. */
export const readSigned = ({ keys }: CheckContext, jws: string): ReceiptBody | string => {
  const text = receiptTextOf(jws);
  if (text === null) return 'it is no Receipt';
  const verified = verifyReceipt(text, keys.documentOf(jws), { crypto: nativeCrypto });
  return verified.ok ? verified.receipt : verified.failures.map(({ message }) => message).join('; ');
};

function* problemsOf(
  context: CheckContext,
  row: ListedReceipt,
  hear: (receipt: ReceiptBody) => void,
): Generator<string> {
  if (!createHash('sha256').update(row.jws).digest().equals(row.contentHash))
    yield 'its bytes do not have the hash that was stored with them';
  const signed = readSigned(context, row.jws);
  if (typeof signed === 'string') return yield signed;
  hear(signed);
  yield* differencesOf(row, signed);
}

const checkEvidence = async (
  { query, report }: CheckContext,
  named: ReadonlyMap<string, ReceiptId>,
): Promise<void> => {
  const gone = await query<{ hash: string }>(
    'select hash from unnest($1::text[]) as named (hash) where not exists (select from evidence e where e.hash = named.hash)',
    [[...named.keys()]],
  );
  for (const { hash } of gone) report(named.get(hash) ?? hash, `it names ${hash}, which is not kept`);
};

const consumedOf = ({ grant_id: grantId, evidence: { consumption } }: ReceiptBody): string | null =>
  consumption === undefined ? null : `${grantId} ${consumption.key} ${consumption.version}`;

/**
 * The Principal column is set only if the Grant was authenticated, so it may be null where the Receipt has a Principal.
 */
const differencesOf = (row: ListedReceipt, receipt: ReceiptBody): readonly string[] => {
  const { trust, protocol } = receipt;
  const authenticated = [trust.checks.T1, trust.checks.T3, protocol.checks.P1];
  const isAuthenticated = [...authenticated, protocol.checks.P2, protocol.checks.P3].every(
    (it) => it === true,
  );
  const wrong = differing([
    ['receipt_id', row.receiptId, receipt.receipt_id],
    ['relying_party', row.relyingParty, receipt.relying_party],
    ['principal', row.principal, isAuthenticated ? receipt.principal?.id : null],
    ['grant_id', row.grantId, receipt.grant_id ?? null],
    ['agent', row.agent, receipt.agent ?? null],
    ['decision', row.decision, receipt.decision],
    ['the Grant of its id', row.allowedGrantHash, receipt.decision === 'ALLOW' ? receipt.grant_hash : null],
    ['what it consumed', row.consumed, consumedOf(receipt)],
    ['reason', row.reason, receipt.reason],
    ['evaluated_at', Number(row.evaluatedAtMs), Date.parse(receipt.evaluated_at)],
    ['the time in its id', ulidTimeMs(ulidOf(row.receiptId)), Number(row.evaluatedAtMs)],
  ]);
  return wrong.map(([name, stored, said]) => `${name} is listed as ${stored}, and the Receipt says ${said}`);
};
