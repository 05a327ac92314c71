/** Fills the days with Receipts and outcome records, several days at a time, directly into their partitions. */

import { availableParallelism } from 'node:os';
import { DAY_MS, dayOf } from '@svc/protocol';
import { ulidTime } from '../fixtures/ulid-time.ts';
import type { Progress } from '../harness/run-benchmark.ts';
import { withSession } from './database.ts';
import { PLACES, type ReceiptTemplate, type ReceiptTemplates } from './templates.ts';
import { GRANTS_EACH } from './tenants.ts';

export interface FillRequest {
  readonly databaseUrl: string;
  /** 00:00 UTC of the first day. */
  readonly firstDayMs: number;
  readonly days: number;
  /** Total number. */
  readonly receipts: number;
  readonly templates: ReceiptTemplates;
  readonly progress: Progress;
}

const PROGRESS_MS = 15_000;

/**
 * Denial reasons, each with the share of a relying party's authenticated decisions that is denied for it. The rest is
 * allowed.
 */
export const REASONS = {
  common: ['AMOUNT_EXCEEDS_AUTHORITY', 0.06],
  replayed: ['PROOF_REPLAYED', 0.04],
  expired: ['GRANT_EXPIRED', 0.03],
  malformed: ['GRANT_MALFORMED', 0.019],
  revoked: ['AUTHORITY_REVOKED', 0.001],
  rare: ['ISSUER_KEY_COMPROMISED', 0.00001],
} as const;
/** A reason that no Receipt has. */
export const ABSENT_REASON = 'UNKNOWN_CONSTRAINT';

export async function fill(request: FillRequest): Promise<void> {
  const { databaseUrl, firstDayMs, days, receipts, progress } = request;
  for (let day = 0; day < days; day += 31) {
    const dates = [day, Math.min(day + 30, days - 1)].map((one) => dayOf(firstDayMs + one * DAY_MS));
    await withSession(databaseUrl, (session) =>
      session.query('select svc_ensure_receipt_partitions($1, $2)', dates),
    );
  }
  const statement = dayStatement(request.templates);
  let next = 0;
  let done = 0;
  const began = performance.now();
  const show = () => {
    const perSecond = Math.round(done / ((performance.now() - began) / 1000));
    progress(
      `${done.toLocaleString('en')} of ${receipts.toLocaleString('en')} receipts, ${perSecond} a second`,
    );
  };
  const work = () =>
    withSession(databaseUrl, async (session) => {
      // Disables the table's trigger that refuses truncation.
      await session.query("set session_replication_role = 'replica'");
      await session.query('set jit = off');
      while (next < days) {
        const day = next++;
        const dayMs = firstDayMs + day * DAY_MS;
        const table = `receipts_${dayOf(dayMs).replaceAll('-', '')}`;
        const count = Math.floor((receipts * (day + 1)) / days) - Math.floor((receipts * day) / days);
        await session.query('begin');
        await session.query(`truncate ${table}`);
        await session.query('select setseed($1)', [day / days]);
        await session.query(statement.replace('$table', table), [dayMs, count, day, days]);
        await session.query(outcomesSql.replace('$table', table), [dayMs]);
        await session.query('commit');
        await session.query(`vacuum (freeze, analyze) ${table}`);
        done += count;
      }
    });
  const timer = setInterval(show, PROGRESS_MS);
  try {
    await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
  } finally {
    clearInterval(timer);
  }
  show();
}

/** Sixteen characters of a ULID that can be written as hexadecimal digits. */
const noise = (of: string) => `upper(substr(md5(${of}), 1, 16))`;

const timestamp = (ms: string) =>
  `to_char(to_timestamp(${ms} / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

const caseOf = (templates: ReceiptTemplates, read: (template: ReceiptTemplate) => string) => `case
  when reason is null then ${literal(read(templates.allow))}
  when reason = '${REASONS.malformed[0]}' then ${literal(read(templates.malformed))}
  else ${literal(read(templates.deny))} end`;

/** Parameters: 00:00 of the day in milliseconds, number of Receipts, index of the day, number of days. */
function dayStatement(templates: ReceiptTemplates): string {
  let low = 0;
  const reason = Object.values(REASONS).map(([name, share]) => {
    low += share;
    return `when dice < ${low} then '${name}'`;
  });
  const values: Readonly<Record<(typeof PLACES)[number], string>> = {
    receipt_id: 'receipt_id',
    evaluated_at: timestamp('ms'),
    expires_at: timestamp('(ms + 300000)'),
    relying_party: 'relying_party',
    principal: 'principal',
    grant_id: 'grant_id',
    agent: 'agent',
    grant_hash: `'sha256:' || encode(sha256(grant_id::bytea), 'hex')`,
    proof_hash: `'sha256:' || encode(sha256(receipt_id::bytea), 'hex')`,
    request_hash: `'sha256:' || encode(sha256(('request' || receipt_id)::bytea), 'hex')`,
    reason: 'reason',
  };
  const payload = `format(${caseOf(templates, (template) => template.payload)}, ${PLACES.map((place) => values[place]).join(', ')})`;
  const encoded = `rtrim(replace(encode(convert_to(${payload}, 'UTF8'), 'base64'), E'\\n', ''), '=')`;
  const signature = `translate(encode(sha512(receipt_id::bytea), 'base64'), E'+/=\\n', '-_')`;
  return `
    with drawn as materialized (
      select i, $1::bigint + i::bigint * 86400000 / $2::bigint as ms, random() as dice, random() as key_dice,
        width_bucket(random(), s.relying_party) as relying_party_number,
        (width_bucket(random(), s.principal) - 1) * ${GRANTS_EACH}
          + $3::int * ${GRANTS_EACH / 2} / $4::int * 2 + (random() < 0.5)::int as agent_number,
        1 + (random() * 49999)::bigint as amount
      from generate_series(0, $2::int - 1) as i, bench.share s
    ), decided as materialized (
      select 'drc_' || ${ulidTime('d.ms')} || ${noise(`d.i || '/' || $3::int`)} as receipt_id, d.ms, d.amount, d.i,
        r.did as relying_party, r.org_id is not null as production_check,
        -- As if keys were tracked since the sixth day.
        case when $3::int >= 5 then r.key_ids[1 + floor(d.key_dice * cardinality(r.key_ids))::int] end as key_id,
        case ${reason.join(' ')} end as reason, a.id as grant_id, a.principal, a.did as agent
      from drawn d join bench.relying_party r on r.n = d.relying_party_number join bench.agent a on a.n = d.agent_number
    ), named as materialized (
      select receipt_id, ms, amount, i, relying_party, production_check, key_id, reason,
        case when reason is distinct from '${REASONS.malformed[0]}' then grant_id end as grant_id,
        case when reason is distinct from '${REASONS.malformed[0]}' then principal end as principal,
        case when reason is distinct from '${REASONS.malformed[0]}' then agent end as agent
      from decided
    ), signed as materialized (
      select *, ${caseOf(templates, (template) => template.header)} || '.' || ${encoded} || '.' || ${signature} as jws
      from named
    )
    insert into $table (receipt_id, relying_party, principal, grant_id, agent, key_id, decision, reason, evaluated_at,
      action_type, amount, currency, resource, method, jws, production_check, content_hash)
    select receipt_id, relying_party, principal, grant_id, agent, key_id,
      case when reason is null then 'ALLOW' else 'DENY' end, reason, to_timestamp(ms / 1000.0),
      'commerce:purchase', amount, 'USD', 'order/2026/' || i, null, jws, production_check,
      sha256(convert_to(jws, 'UTF8'))
    from signed order by receipt_id`;
}

/**
 * One in fifty Receipts has an outcome: mostly fulfilment, one in ten a loss. One in twenty of these was corrected.
 * Parameter: 00:00 of the day in milliseconds.
 */
const outcomesSql = `
  with reported as (
    select *, row_number() over () as i, random() as dice from $table where random() < 0.02
  ), first as (
    insert into attestations (attestation_id, receipt_id, ordinal, relying_party, principal, evaluated_at, decision, type,
      occurred_at, recorded_at, loss_amount, currency, issuer_unverified)
    select 'oat_' || ${ulidTime('$1::bigint')} || ${noise(`i || 'first' || $1::bigint`)}, receipt_id, 1, relying_party,
      principal, evaluated_at, decision, case when dice < 0.1 then 'loss_reported' when dice < 0.2 then 'cancelled' else 'fulfilled' end,
      to_char(evaluated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), evaluated_at + interval '1 day',
      case when dice < 0.1 then amount end, case when dice < 0.1 then currency end,
      coalesce(reason = 'ISSUER_UNVERIFIED', false)
    from reported
    returning *
  )
  insert into attestations (attestation_id, receipt_id, ordinal, relying_party, principal, evaluated_at, decision, type,
    occurred_at, recorded_at, correction_of, issuer_unverified)
  select 'oat_' || ${ulidTime('($1::bigint + 1)')} || ${noise(`attestation_id || 'second'`)}, receipt_id, 2, relying_party,
    principal, evaluated_at, decision, 'fulfilled', occurred_at, recorded_at + interval '1 day', attestation_id,
    issuer_unverified
  from first where random() < 0.05`;
