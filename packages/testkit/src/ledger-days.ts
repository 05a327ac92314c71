/** Receipts of past days, which no commit could store now, and the deployment's first day moved back to them. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS, dayOf, dayStartMs, encodeUlid, type ReceiptId, ulidOf, ulidTimeMs } from '@svc/protocol';
import { withSession } from './store/session.ts';

/** `YYYY-MM-DD` of the day that many days before today. */
export const daysAgo = (days: number): string => dayOf(Date.now() - days * DAY_MS);

/**
 * Waits until a new UTC day, if this one ends within `leftMs`, so that a test file does not run across midnight. Await
 * it before anything is dated.
 */
export async function awayFromMidnight(leftMs = 120_000): Promise<void> {
  const waitMs = dayStartMs(dayOf(Date.now() + leftMs)) - Date.now();
  if (waitMs > 0) await pause(waitMs);
}

/** Ids of `count` receipts spread over a day, ascending. */
export const receiptIdsOf = (day: string, count: number): ReceiptId[] =>
  Array.from({ length: count }, (_, i) => {
    const ms = dayStartMs(day) + Math.floor((i * DAY_MS) / count);
    return `drc_${encodeUlid(ms, randomBytes(10))}` as ReceiptId;
  }).sort();

/** Stores denied decisions under these ids, whatever their days, and creates the partitions they need. */
export const insertReceipts = (url: string, receiptIds: readonly ReceiptId[], days: readonly string[]) =>
  withSession(url, async (session) => {
    for (const day of days) await session.query('select svc_ensure_receipt_partitions($1, $1)', [day]);
    await session.query(
      `insert into receipts (receipt_id, relying_party, key_id, decision, reason, evaluated_at, jws, content_hash)
       select id, 'did:web:shop.example', 'aaaaaaaaaaaa', 'DENY', 'GRANT_MALFORMED',
         to_timestamp(ms / 1000.0), 'jws of ' || id, sha256(convert_to('jws of ' || id, 'UTF8'))
       from unnest($1::text[], $2::bigint[]) as receipt (id, ms)`,
      [receiptIds, receiptIds.map((id) => ulidTimeMs(ulidOf(id)))],
    );
  });

/** Makes the database look as if it was created on that day. */
export const moveFirstDay = (url: string, day: string) =>
  tamper(url, 'update deployment set first_day = $1', [day]);

/** Changes data as a damaged disk or an intruder would: no trigger refuses it. */
export const tamper = (url: string, text: string, values: readonly unknown[] = []) =>
  withSession(url, async (session) => {
    await session.query(`set session_replication_role = 'replica'`);
    await session.query(text, [...values]);
  });
