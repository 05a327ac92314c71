/** Receipts of past days, signed as the service signs them. A commit would no longer accept them. */
import { randomBytes } from 'node:crypto';
import {
  type ApiKeyId,
  buildReceiptBody,
  DAY_MS,
  type DidWeb,
  dayStartMs,
  encodeUlid,
  evaluate,
  parsePresented,
  type ReceiptId,
  type Signer,
} from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { signReceipt } from '@svc/receipts';
import type { Client } from 'pg';

export interface Ledger {
  readonly sql: Client;
  readonly signer: Signer;
  readonly relyingParty: DidWeb;
  readonly keyId: ApiKeyId;
}

/** `count` denied decisions spread over a day; `hasAction` fills the columns that are cleared after 7 years. */
export const insertSignedReceipts = async (
  { sql, signer, relyingParty, keyId }: Ledger,
  day: string,
  count: number,
  hasAction = false,
): Promise<void> => {
  await sql.query('select svc_ensure_receipt_partitions($1, $1)', [day]);
  const action = hasAction ? ['commerce:purchase', 42_700, 'USD', 'order/1'] : [null, null, null, null];
  const receipts = Array.from({ length: count }, async (_, i) => {
    const nowMs = dayStartMs(day) + Math.floor((i * DAY_MS) / count);
    const receiptId = `drc_${encodeUlid(nowMs, randomBytes(10))}` as ReceiptId;
    return { receiptId, nowMs, jws: await signDenied(signer, relyingParty, receiptId, nowMs) };
  });
  const rows = await Promise.all(receipts);
  await sql.query(
    `insert into receipts (receipt_id, relying_party, key_id, decision, reason, evaluated_at, jws, content_hash,
       action_type, amount, currency, resource)
     select id, $4, $5, 'DENY', 'GRANT_MALFORMED', to_timestamp(ms / 1000.0), jws, sha256(convert_to(jws, 'UTF8')),
       $6, $7, $8, $9
     from unnest($1::text[], $2::bigint[], $3::text[]) as row (id, ms, jws)`,
    [
      rows.map(({ receiptId }) => receiptId),
      rows.map(({ nowMs }) => nowMs),
      rows.map(({ jws }) => jws),
      ...[relyingParty, keyId, ...action],
    ],
  );
};

/** An empty request: denied by the first check, whatever the facts. */
const signDenied = async (
  signer: Signer,
  did: DidWeb,
  receiptId: ReceiptId,
  nowMs: number,
): Promise<string> => {
  const request = { grant: '', proof: '', action: {} };
  const relyingParty = { did, profile: 'svc-base-v1', proofWindowSeconds: 120 } as const;
  const decided = evaluate(parsePresented(request), {}, { relyingParty, nowMs, crypto: nativeCrypto });
  if (decided.kind !== 'decided') throw new Error('not decided');
  const body = buildReceiptBody(request, decided, { receiptId, relyingParty, nowMs, crypto: nativeCrypto });
  return (await signReceipt(body, signer)).jws;
};
