/** What must hold between tables: each rule is a query that finds what breaks it. */
import type { Check } from '../check.ts';

interface Rule {
  readonly name: string;
  readonly promise: string;
  readonly countSql: string;
  /** Answers \`where\` and \`problem\` of each fault. */
  readonly faultSql: string;
}

const RULES: readonly Rule[] = [
  {
    name: 'revocations',
    promise:
      'no ALLOW is dated after the revocation of its Grant, and every ALLOW is of a Grant of its Principal',
    countSql: `select count(*) from receipts where decision = 'ALLOW'`,
    faultSql: `
      select r.receipt_id as "where",
        case when g.id is null then 'its Grant was never allocated'
          when g.principal is distinct from r.principal then 'its Grant is of ' || g.principal
          else 'its Grant was revoked at ' || g.revoked_at end as problem
      from receipts r left join grants g on g.id = r.grant_id
      where r.decision = 'ALLOW'
        and (g.id is null or g.principal is distinct from r.principal or r.evaluated_at > g.revoked_at)`,
  },
  {
    name: 'callers',
    promise: 'every Receipt is of a relying party that is registered, and was asked for with a key of it',
    countSql: 'select count(*) from receipts',
    faultSql: `
      select min(r.receipt_id) as "where", count(*) || ' Receipts of ' || r.relying_party
        || case when p.did is null then ', which is not registered' else ' with a key that is not its own' end as problem
      from (select relying_party, key_id, receipt_id from receipts) r
      left join relying_parties p on p.did = r.relying_party
      left join api_keys k on k.key_id = r.key_id
      where p.did is null or (r.key_id is not null and (k.key_id is null or k.subject <> r.relying_party or k.role <> 'rp'))
      group by r.relying_party, p.did`,
  },
  {
    name: 'outcomes',
    promise:
      'every attestation is of a stored Receipt and its relying party, and corrects only what may be corrected',
    countSql: 'select count(*) from attestations',
    faultSql: `
      select a.attestation_id as "where",
        case when r.receipt_id is null then 'there is no Receipt ' || a.receipt_id
          when c.correction_of is not null then 'it corrects a correction'
          else 'it is not what its Receipt says' end as problem
      from attestations a
      left join receipts r on r.receipt_id = a.receipt_id
      left join attestations c on c.attestation_id = a.correction_of
      where r.receipt_id is null or c.correction_of is not null or a.relying_party <> r.relying_party
        or a.principal is distinct from r.principal or a.evaluated_at <> r.evaluated_at or a.decision <> r.decision`,
  },
  {
    name: 'restores',
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
    promise: 'no day is closed that was never published but the latest, and none before it is open',
    countSql: 'select count(*) from closed_days',
    faultSql: `
      select c.day::text as "where", 'it is closed, a later day is published, and it has no checkpoint' as problem
      from closed_days c left join checkpoints p using (day)
      where p.day is null and c.day < (select max(day) from checkpoints)`,
  },
  {
    name: 'usage',
    promise: 'the stored sums are what counting the Receipts again gives',
    countSql: 'select count(*) from usage_counts',
    faultSql: `
      with counted as (
        select (evaluated_at at time zone 'UTC')::date as day, relying_party, principal, key_id, reason,
          count(*) as verifies
        from receipts, ledger_count where receipt_id < counted_before group by 1, 2, 3, 4, 5
      )
      select coalesce(c.day, u.day)::text as "where",
        coalesce(c.relying_party, u.relying_party) || ': ' || coalesce(u.verifies, 0) || ' are counted for key '
          || coalesce(c.key_id, u.key_id, 'unknown') || ', and there are ' || coalesce(c.verifies, 0) as problem
      from counted c full join usage_counts u
        on (c.day, c.relying_party) = (u.day, u.relying_party)
        and (c.principal, c.key_id, c.reason) is not distinct from (u.principal, u.key_id, u.reason)
      where c.verifies is distinct from u.verifies
      union all
      select coalesce(a.day, b.day)::text, 'the sums of the day do not agree: ' || coalesce(a.verifies, 0)
        || ' and ' || coalesce(b.verifies, 0)
      from (select day, sum(verifies) as verifies from usage_counts group by day) a
      full join (
        select day, min(verifies) as verifies from (
          select day, sum(verifies) as verifies from usage_by_key group by day
          union all select day, sum(verifies) from usage_by_principal group by day
          union all select day, sum(verifies) from usage_by_day group by day
        ) as coarser group by day having count(*) = 3 and min(verifies) = max(verifies)
      ) b using (day)
      where a.verifies is distinct from b.verifies`,
  },
  {
    name: 'caps',
    promise:
      'the production checks counted against the cap of an org are those of its relying parties since then',
    countSql: 'select count(*) from entitlements where check_cap is not null',
    faultSql: `
      select e.org_id as "where", e.checks_since_cap || ' are counted, and there are ' || c.checks as problem
      from entitlements e, lateral (
        select count(*) as checks from relying_parties rp join receipts r on r.relying_party = rp.did
        where rp.org_id = e.org_id and r.production_check and r.evaluated_at >= e.cap_since
      ) c
      where e.check_cap is not null and e.checks_since_cap <> c.checks`,
  },
];

export const ruleChecks: readonly Check[] = RULES.map(({ name, promise, countSql, faultSql }) => ({
  name,
  promise,
  countSql,
  async run({ query, report, advance }) {
    for (const { where, problem } of await query<{ where: string; problem: string }>(faultSql))
      report(where, problem);
    advance(Number((await query<{ count: string }>(countSql))[0]?.count ?? 0));
  },
}));
