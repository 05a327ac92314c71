/** Invariants between tables, each a query for the rows that violate it. */
import { type Check, reportRows } from '../check.ts';
import { COLD_RANGES } from '../cold-days.ts';
import { CAP_FAULTS } from './caps.ts';

export interface Rule {
  readonly name: string;
  readonly promise: string;
  readonly countSql: string;
  /** Selects `where` and `problem` of each fault. */
  readonly faultSql: string;
}

const ONLY_ROWS = [
  'clock_mark',
  'deployment',
  'evidence_naming',
  'fence_quarantine',
  'ledger_count',
  'ledger_seal',
  'retention',
];

/** Selects the ALLOWs among the Receipts of a table that their Grant does not permit. */
export const revocationFaults = (receipts: string): string => `
  select r.receipt_id as "where",
    case when g.id is null then 'its Grant was never allocated'
      when g.principal is distinct from r.principal then 'its Grant is of ' || g.principal
      when g.agent is distinct from r.agent then 'its Grant is to ' || g.agent
      else 'its Grant was revoked at ' || g.revoked_at end as problem
  from ${receipts} as r left join grants g on g.id = r.grant_id
  where r.decision = 'ALLOW'
    and (g.id is null or g.principal is distinct from r.principal or g.agent is distinct from r.agent
      or r.evaluated_at > g.revoked_at)`;

/** `asked`: relying party and key, with the first Receipt and the number of Receipts. */
export const callerFaults = (asked: string): string => `
  select min(r.first) as "where", sum(r.count) || ' Receipts of ' || r.relying_party
    || case when p.did is null then ', which is not registered' else ' with a key that is not its own' end as problem
  from ${asked} as r (relying_party, key_id, first, count)
  left join relying_parties p on p.did = r.relying_party
  left join api_keys k on k.key_id = r.key_id
  where p.did is null or (r.key_id is not null and (k.key_id is null or k.subject <> r.relying_party or k.role <> 'rp'))
  group by r.relying_party, p.did`;

/**
 * The column may be false for an ISSUER_UNVERIFIED if the day is or was cold: a version before
 * 0055-outcomes-of-unverified reported the outcome while the day was cold, or the day was cold when that migration ran.
 */
const IS_UNVERIFIED_FAULT = `a.issuer_unverified <> (r.reason is not distinct from 'ISSUER_UNVERIFIED')
  and (a.issuer_unverified or not exists (
    select from cold_days as c
    where c.day = (a.evaluated_at at time zone 'UTC')::date
      and (c.state in ('cold', 'unpacked') or exists (select from cold_manifests as m where m.day = c.day))))`;

/** Selects the attestations of one table that have no Receipt in another table, or disagree with it. */
export const attestationFaults = (attestations: string, receipts: string): string => `
  select a.attestation_id as "where",
    case when r.receipt_id is null then 'there is no Receipt ' || a.receipt_id else 'it is not what its Receipt says' end
      as problem
  from ${attestations} as a left join ${receipts} as r on r.receipt_id = a.receipt_id
  where (r.receipt_id is null or a.relying_party <> r.relying_party or a.principal is distinct from r.principal
    or a.evaluated_at <> r.evaluated_at or a.decision <> r.decision or ${IS_UNVERIFIED_FAULT})`;

const RULES: readonly Rule[] = [
  {
    name: 'only rows',
    promise: 'every table of one row has it',
    countSql: `select ${ONLY_ROWS.length} as count`,
    faultSql: ONLY_ROWS.map(
      (table) =>
        `select '${table}' as "where", 'its only row is gone' as problem where not exists (select from ${table})`,
    ).join(' union all '),
  },
  {
    name: 'revocations',
    promise:
      'no ALLOW is dated after the revocation of its Grant, and every ALLOW is of a Grant of its Principal to its Agent',
    countSql: `select count(*) from receipts where decision = 'ALLOW'`,
    faultSql: revocationFaults('receipts'),
  },
  {
    name: 'keys',
    promise:
      'every live key of a Principal or relying party has its owner, and no other org than the owner’s has issued it',
    countSql: `select count(*) from api_keys where revoked_at is null and role in ('principal', 'rp')`,
    faultSql: `
      with owners as (
        select 'principal' as role, did, org_id from principals union all select 'rp', did, org_id from relying_parties
      )
      select k.key_id as "where", case when o.did is null then 'it is live, and ' || k.subject || ' is not registered'
          else 'it is live, and was issued by ' || a.actor_did || ', which ' || k.subject || ' is not of' end as problem
      from api_keys as k left join owners as o on o.role = k.role and o.did = k.subject
      left join audit_events as a on a.target = k.key_id and a.action = 'api_key.create' and a.actor_kind = 'org'
      where k.revoked_at is null and k.role in ('principal', 'rp')
        and (o.did is null or a.actor_did is distinct from o.org_id and a.actor_did is not null)`,
  },
  {
    name: 'pauses',
    promise: 'every Principal and relying party, and the service, is paused or not as its pauses say',
    countSql:
      'select (select count(*) from principals) + (select count(*) from relying_parties) + 1 as count',
    faultSql: `
      select did as "where", case when has_pauses then 'it has pauses for decisions, and none is listed'
          else 'a pause is listed, and decisions do not see it' end as problem
      from principals where has_pauses <> svc_principal_has_pauses(did, org_id)
      union all
      select did, case when is_paused then 'it is paused for decisions, and no pause is listed'
          else 'a pause is listed, and decisions do not see it' end
      from relying_parties where is_paused <> svc_relying_party_is_paused(did, org_id)
      union all
      select 'service', case when is_paused then 'it is paused for decisions, and no pause is listed'
          else 'a pause is listed, and decisions do not see it' end
      from ledger_seal
      where is_paused <> exists (select from pauses where owner = 'service' and scope = 'service' and is_paused)`,
  },
  {
    name: 'lists of Grants',
    promise: 'every Grant is in a status list that is there',
    countSql: 'select count(*) from grants',
    faultSql: `
      select g.id as "where", 'there is no list ' || g.status_list_url as problem
      from grants g left join status_lists l on l.url = g.status_list_url where l.url is null`,
  },
  {
    name: 'released lists',
    promise: 'a list is gone only with a Principal that was released, and that no ALLOW was ever of',
    countSql: 'select count(*) from released_status_lists',
    faultSql: `
      select l.url as "where", case
          when p.did is not null then l.principal || ' is still there, and was when it is said to have been released'
          when a.receipt_id is not null then l.principal || ' had an ALLOW before: ' || a.receipt_id
          else 'the audit log knows of no release of ' || l.principal end as problem
      from released_status_lists l
        left join principals p on p.did = l.principal and p.created_at < l.released_at
        left join lateral (
          select r.receipt_id from receipts r
          where hashtext(r.principal) = hashtext(l.principal) and r.principal = l.principal and r.decision = 'ALLOW'
            and r.receipt_id < svc_lowest_receipt_id(l.released_at) limit 1
        ) a on true
      where p.did is not null or a.receipt_id is not null or not exists (
        select from audit_events e where e.target = l.principal and e.action = 'principal.verify'
          and e.details ->> 'claim' in ('released', 'expired', 'yielded') and e.occurred_at >= l.released_at - interval '1 hour')`,
  },
  {
    name: 'acts',
    promise:
      'what the audit log says was revoked, disabled, retired or compromised is so, or went with a Principal that was released',
    countSql: `select count(*) from audit_events
      where action in ('grant.revoke', 'key.compromise', 'key.retire', 'agent.disable', 'api_key.revoke')`,
    // Not faults: an API key without a row opens nothing; an Agent that was in no inventory may be disabled; a released
    // name may be claimed again, with keys and Agents of the same names.
    faultSql: `
      select a.target as "where", 'it is not so, whatever ' || a.action || ' ' || a.event_id || ' says' as problem
      from audit_events a
      left join grants g on a.action = 'grant.revoke' and g.id = a.target
      left join principal_keys k on a.action in ('key.compromise', 'key.retire') and k.kid = a.target
      left join agents d
        on a.action = 'agent.disable' and d.did = a.target and d.principal = a.details ->> 'principal'
      left join api_keys s on a.action = 'api_key.revoke' and s.key_id = a.target
      where case a.action
          when 'grant.revoke' then g.revocation_recorded_at is null
          when 'key.compromise' then k.state is distinct from 'compromised'
          when 'key.retire' then coalesce(k.state, 'active') = 'active'
          when 'agent.disable' then d.disabled_at is null and (d.created_at <= a.occurred_at or d.did is null and exists (
            select from audit_events e
            where e.action = 'agent.register' and e.target = a.target and e.occurred_at <= a.occurred_at
              and e.details ->> 'principal' = a.details ->> 'principal'))
          when 'api_key.revoke' then s.key_id is not null and s.revoked_at is null
          else false end
        and not (g.id is null and s.key_id is null and exists (
          select from audit_events r
          where r.action = 'principal.verify' and r.details ->> 'claim' in ('released', 'expired', 'yielded')
            and r.occurred_at >= a.occurred_at - interval '1 hour'
            and case when a.action = 'agent.disable' or k.kid is not null then r.target = a.details ->> 'principal'
              else array[r.target, r.details ->> 'org_id'] && (
                select array_agg(v.did) from audit_events o,
                  unnest(array[o.actor_did, o.details ->> 'principal', split_part(o.target, '#', 1)]) as v (did)
                where o.target = a.target) end))`,
  },
  {
    name: 'callers',
    promise: 'every Receipt is of a relying party that is registered, and was asked for with a key of it',
    countSql: 'select count(*) from receipts',
    faultSql: callerFaults(
      '(select relying_party, key_id, min(receipt_id), count(*) from receipts group by relying_party, key_id)',
    ),
  },
  {
    name: 'traces',
    promise: 'every Receipt that an idempotency key or a spent Proof speaks of is there',
    countSql: 'select (select count(*) from idempotency_keys) + (select count(*) from spent_proofs) as count',
    // Only an ALLOW spends a Proof, in the same commit, and the spent Proof is deleted before its Receipt ever is.
    faultSql: `
      select i.receipt_id as "where", 'there is no such Receipt, and ' || i.relying_party || ' was answered with it' as problem
      from idempotency_keys i left join receipts r on r.receipt_id = i.receipt_id
      where r.receipt_id is null
      union all
      select s.grant_id, s.spent || ' Proofs were spent under it, and there are ' || coalesce(a.allowed, 0) || ' ALLOWs'
      from (select grant_id, count(*) as spent from spent_proofs group by grant_id) s
      left join (
        select grant_id, count(*) as allowed from receipts
        where decision = 'ALLOW' and grant_id in (select grant_id from spent_proofs) group by grant_id
      ) a on a.grant_id = s.grant_id
      where s.spent > coalesce(a.allowed, 0)`,
  },
  {
    name: 'outcomes',
    promise:
      'every attestation is of a stored Receipt and its relying party, but for those of cold days, and corrects only what may be corrected',
    countSql: 'select count(*) from attestations',
    faultSql: `
      with cold as materialized (${COLD_RANGES})
      ${attestationFaults(
        `(select a.*, cold.day is not null as is_cold from attestations a left join cold
          on cold.day = (a.evaluated_at at time zone 'UTC')::date and a.receipt_id >= cold.first and a.receipt_id < cold.behind)`,
        'receipts',
      )}
        and not (r.receipt_id is null and a.is_cold)
      union all
      select a.attestation_id, 'it corrects a correction'
      from attestations a join attestations c on c.attestation_id = a.correction_of
      where c.correction_of is not null and c.consumption_cause is distinct from 'restore'`,
  },
  {
    name: 'restored budgets',
    promise: 'every attestation that moved a budget has its movement in the log',
    countSql: 'select count(*) from attestations where consumption_cause is not null',
    faultSql: `
      select a.attestation_id as "where", 'version ' || a.consumption_version || ' is no ' || a.consumption_cause || ' of it'
        as problem
      from attestations a left join consumption_events e
        on e.cause_id = a.attestation_id and e.cause = a.consumption_cause and e.version = a.consumption_version
        and e.receipt_id = a.receipt_id
      where a.consumption_cause is not null and e.version is null`,
  },
  {
    name: 'closed days',
    promise: 'every published day is closed, and no other one but the next',
    countSql: 'select count(*) from closed_days',
    faultSql: `
      with next as (
        select coalesce((select max(day) + 1 from checkpoints), (select first_day from deployment)) as day
      ), named as (
        select day from closed_days union select day from checkpoints union select day from merkle_tiles
      )
      select day::text as "where",
        case when c.day is null then 'it is published, or has tiles, and is not closed'
          else 'it is closed, is not the next day to be published, and has no checkpoint' end as problem
      from named left join closed_days c using (day) left join checkpoints p using (day)
      where c.day is null or (p.day is null and day is distinct from (select day from next))`,
  },
  {
    name: 'caps',
    promise:
      'the production checks counted against the cap of an org are those of its relying parties since then, but for caps that began within a cold day',
    countSql: 'select count(*) from entitlements where check_cap is not null',
    faultSql: CAP_FAULTS,
  },
];

export const ruleCheck = ({ name, promise, countSql, faultSql }: Rule): Check => ({
  name,
  promise,
  countSql,
  async run(context) {
    await reportRows(context, faultSql);
    const { query, advance } = context;
    advance(Number((await query<{ count: string }>(countSql))[0]?.count ?? 0));
  },
});

export const ruleChecks: readonly Check[] = RULES.map(ruleCheck);
