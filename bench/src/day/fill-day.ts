/** Fills yesterday with the given number of Receipts. Each is a copy of a real one, with its own id and signature. */
import { DAY_MS, dayOf } from '@svc/protocol';
import { ulidTime } from '../fixtures/ulid-time.ts';
import { withoutTriggers } from './session.ts';

/** Length of an Ed25519 signature in base64url. */
const SIGNATURE_CHARS = 86;

export async function fillYesterday(
  databaseUrl: string,
  {
    receipts,
    jws,
    relyingParty,
    keyId,
  }: { receipts: number; jws: string; relyingParty: string; keyId: string },
): Promise<void> {
  const startMs = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS;
  const day = dayOf(startMs);
  await withoutTriggers(databaseUrl, async (session) => {
    await session.query('update deployment set first_day = $1', [day]);
    await session.query('select svc_ensure_receipt_partitions($1, $1)', [day]);
    await session.query(
      `insert into receipts (receipt_id, relying_party, key_id, decision, reason, evaluated_at, jws, content_hash)
       select receipt_id, $3, $4, 'DENY', 'GRANT_MALFORMED', to_timestamp(ms / 1000.0), jws, sha256(convert_to(jws, 'UTF8'))
       from (
         select receipt_id, ms, $5 || translate(left(encode(sha512(receipt_id::bytea), 'base64'), ${SIGNATURE_CHARS}), E'+/=\\n', '-_') as jws
         from (
           select 'drc_' || ${ulidTime('ms')} || upper(substr(md5(i::text), 1, 16)) as receipt_id, ms
           from (select i, $1::bigint + i::bigint * ${DAY_MS} / $2::bigint as ms from generate_series(0, $2::int - 1) as i) as one
         ) as named
       ) as signed`,
      [startMs, receipts, relyingParty, keyId, jws.slice(0, -SIGNATURE_CHARS)],
    );
    await session.query('vacuum (freeze, analyze) receipts');
    await session.query('checkpoint');
  });
}

/** Restores the state before the day was closed. */
export const reopen = (databaseUrl: string): Promise<void> =>
  withoutTriggers(databaseUrl, async (session) => {
    for (const table of ['content_checks', 'merkle_tiles', 'checkpoints', 'closed_days'])
      await session.query(`delete from ${table}`);
  });

/** Some ids of the day, evenly spread over it. */
export const pickReceiptIds = (databaseUrl: string, count: number, receipts: number): Promise<string[]> =>
  withoutTriggers(databaseUrl, async (session) => {
    const { rows } = await session.query<{ id: string }>(
      `select receipt_id as id from (
         select receipt_id, row_number() over (order by receipt_id) as n from receipts
         where receipt_id < svc_lowest_receipt_id(date_trunc('day', now() at time zone 'UTC') at time zone 'UTC')
       ) as numbered where n % greatest($2::int / $1::int, 1) = 0 limit $1`,
      [count, receipts],
    );
    return rows.map(({ id }) => id);
  });
