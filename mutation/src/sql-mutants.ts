/**
 * Hand-written mutants of the commit in SQL. Each is a plausible mistake, named by what a wrong commit would then do,
 * with the suites that must detect it. `text` occurs exactly once in its file, in the last definition of its function.
 */
export interface SqlMutant {
  readonly name: string;
  /** Below store-pg/src/migrations. */
  readonly file: string;
  readonly text: string;
  readonly replacement: string;
  /** Below store-pg/src, without `.test.ts`; the quickest first. */
  readonly suites: readonly string[];
}

type Change = readonly [name: string, text: string, replacement: string, ...suites: string[]];

const inFile = (file: string, changes: readonly Change[]): SqlMutant[] =>
  changes.map(([name, text, replacement, ...suites]) => ({ name, file, text, replacement, suites }));

const OUTCOMES = 'verify/commit-outcomes';
const IDEMPOTENCY = 'verify/commit-idempotency';
const LOCKS = 'verify/commit-locks';
const RACES = 'verify/commit-races';
const BUDGETS = 'verify/commit-budgets';
const GRANTS = 'verify/commit-grants';
const ENTITLEMENTS = 'verify/commit-entitlements';
const ENTITLEMENT_RACES = 'entitlement-races';
const REVOCATION_RACES = 'revocation-races';
const SEAL = 'ledger-seal';

const LOCK_FILE = '0001-foundation/14-commit-locks.sql';
const TAKEN_FILE = '0052-ahead-and-stopped/02-locks.sql';
const JUDGE_FILE = '0011-pauses/02-commit.sql';
const CAPS_FILE = '0001-foundation/15-commit-judge.sql';
const BUDGET_FILE = '0001-foundation/16-commit-budgets.sql';
const CLAIM_FILE = '0001-foundation/17-commit-claims.sql';
const COMMIT_FILE = '0010-events/03-facts.sql';
const STORE_FILE = '0001-foundation/18-commit.sql';
const REVOCATION_FILE = '0001-foundation/19-revocation.sql';

export const SQL_MUTANTS: readonly SqlMutant[] = [
  ...inFile(TAKEN_FILE, [
    [
      'a commit takes no lock of its Principal',
      '(1, hashtext(d.used_principal), false)',
      '(1, null::integer, false)',
      LOCKS,
      REVOCATION_RACES,
    ],
    [
      'a commit takes no lock of its day',
      '(2, svc_day_number(d.evaluated_at_ms), false)',
      '(2, null::integer, false)',
      LOCKS,
      SEAL,
    ],
    [
      'a commit takes no lock of its org',
      '(8, hashtext(d.org_id), d.is_capped)',
      '(8, null::integer, d.is_capped)',
      ENTITLEMENTS,
      ENTITLEMENT_RACES,
    ],
    [
      'capped commits of an org run beside each other',
      '(8, hashtext(d.org_id), d.is_capped)',
      '(8, hashtext(d.org_id), false)',
      ENTITLEMENTS,
      ENTITLEMENT_RACES,
    ],
    [
      'commits of a Principal keep each other out',
      '(1, hashtext(d.used_principal), false)',
      '(1, hashtext(d.used_principal), true)',
      LOCKS,
      RACES,
    ],
    [
      'a commit waits for whoever binds its Grant with all of its batch',
      '(16, hashtext(d.spend_grant_id || left(d.binds_grant_hash, 0)), true)',
      '(16, null::integer, true)',
      LOCKS,
    ],
    [
      'a commit waits for whoever claims its Idempotency-Key with all of its batch',
      "(17, hashtext(d.relying_party || ' ' || d.idempotency_key), true)",
      '(17, null::integer, true)',
      LOCKS,
    ],
    ['a decision whose lock was not had is stored', "v_outcomes[v_ordinal] := 'LOCKED';", 'null;', LOCKS],
  ]),
  ...inFile(LOCK_FILE, [
    [
      'balances whose lock was not had in time are read all the same',
      'v_missed := v_missed || v_wanted.grant_ids;',
      'null;',
      BUDGETS,
    ],
    [
      'a lock that timed out counts as had',
      'exception when lock_not_available then\n    return false;',
      'exception when lock_not_available then\n    return true;',
      LOCKS,
    ],
    [
      'a commit whose time is over goes on without its lock',
      'if v_wait_ms < 1 then\n    return false;',
      'if v_wait_ms < 1 then\n    return true;',
      LOCKS,
    ],
  ]),
  ...inFile(JUDGE_FILE, [
    [
      'an ALLOW may rest on another Grant than the one found in force',
      'd.used_grant_id is distinct from d.grant_id',
      'false',
      OUTCOMES,
    ],
    ['an ALLOW of no Grant is stored', '(d.grant_id is null or', '(false or', OUTCOMES],
    [
      'an ALLOW may spend nothing, or the Proof of another Grant',
      'd.spend_grant_id is distinct from (',
      'false and d.spend_grant_id is distinct from (',
      OUTCOMES,
    ],
    [
      'a decision may be dated long ago',
      "v_now - interval '2 seconds'",
      "v_now - interval '2 hours'",
      OUTCOMES,
    ],
    [
      'a decision may be dated ahead',
      "interval '2 seconds' and v_now",
      "interval '2 seconds' and v_now + interval '1 hour'",
      OUTCOMES,
    ],
    ['a Receipt may be stored below the seal', 'd.receipt_id < v_sealed_before', 'false', OUTCOMES, SEAL],
    ['a key that does not exist may commit', 'when k.key_hash is null\n          or', 'when', OUTCOMES],
    ['a revoked key may commit', 'or k.revoked_at is not null', '', OUTCOMES],
    [
      'a decision may be dated on a closed day',
      'when c.day is not null',
      'when false',
      OUTCOMES,
      'closed-day',
    ],
    [
      'the relying party may have changed since',
      'r.version is distinct from d.relying_party_version',
      'false',
      OUTCOMES,
    ],
    [
      'the Principal may have changed since',
      'p.version is distinct from d.used_principal_version',
      'false',
      OUTCOMES,
    ],
    [
      'the entitlement may have changed since',
      'coalesce(e.version, 0) is distinct from d.entitlement_version',
      'false',
      ENTITLEMENTS,
    ],
    [
      'a revoked Grant still allows',
      'g.revocation_recorded_at is not null',
      'false',
      OUTCOMES,
      REVOCATION_RACES,
    ],
    [
      'a revocation counts only once it is stamped',
      'g.revocation_recorded_at is not null',
      'g.revoked_at is not null',
      OUTCOMES,
      REVOCATION_RACES,
    ],
    ['a Grant that was never allocated allows', 'or g.principal is null', '', OUTCOMES],
    [
      'the lock may be of another Principal',
      'or g.principal is distinct from d.used_principal',
      '',
      OUTCOMES,
    ],
    [
      'an org that is not allowed has production checks',
      "e.production is distinct from 'allowed'",
      'false',
      ENTITLEMENTS,
    ],
    [
      'an org has production checks after its time',
      'or e.production_until <= to_timestamp(d.evaluated_at_ms / 1000.0)',
      '',
      ENTITLEMENTS,
    ],
  ]),
  ...inFile(CAPS_FILE, [
    ['a cap allows one too many', 'd.place > d.room then', 'd.place > d.room + 1 then', ENTITLEMENTS],
    ['a cap allows one too few', 'd.place > d.room then', 'd.place >= d.room then', ENTITLEMENTS],
    [
      'decisions that are not stored use up places under a cap',
      'filter (where p_outcomes[d.ordinal] is null and e.org_id is not null)',
      'filter (where e.org_id is not null)',
      ENTITLEMENTS,
    ],
    [
      'whoever could move up under a cap is refused for good',
      "when p.place <= f.room then 'STALE'",
      "when false then 'STALE'",
      ENTITLEMENTS,
    ],
    [
      'checks that were not stored are counted',
      'where p_outcomes[d.ordinal] is null and e.check_cap is not null',
      'where e.check_cap is not null',
      ENTITLEMENTS,
    ],
    [
      'a batch counts as one check',
      'e.checks_since_cap + stored.checks',
      'e.checks_since_cap + 1',
      ENTITLEMENTS,
    ],
  ]),
  ...inFile(BUDGET_FILE, [
    [
      'a decision may rest on balances that have moved since',
      'and d.version is not distinct from p.version + count(*)\n            filter (where d.consumes)\n            over ahead as holds',
      'as holds',
      BUDGETS,
    ],
    [
      'decisions of one batch all rest on the same balances',
      'p.version + count(*)\n            filter (where d.consumes)\n            over ahead as holds',
      'p.version as holds',
      BUDGETS,
    ],
    [
      'balances whose lock was not had are relied on',
      'where hashtext(grant_id) != all (p_missed)',
      '',
      BUDGETS,
    ],
    [
      'what is behind a lost decision is stored',
      'and p.ordinal <= coalesce(p.first_lost, p.ordinal)',
      '',
      BUDGETS,
    ],
    [
      'a decision that consumes nothing costs those behind it their place',
      'filter (where consumes and not holds)',
      'filter (where not holds)',
      BUDGETS,
    ],
    ['the log of a Grant has a gap', 'd.balances_version + 1', 'd.balances_version + 2', BUDGETS],
    [
      'decisions that are not stored consume',
      'where p_outcomes[d.ordinal] is null and d.budget_key is not null;',
      'where d.budget_key is not null;',
      BUDGETS,
    ],
    [
      'the last of a budget cannot be spent',
      'p_spent + p_delta <= p_limit',
      'p_spent + p_delta < p_limit',
      BUDGETS,
    ],
    [
      'what is stored is not held against the limits once more',
      'p_spent + p_delta <= p_limit',
      'p_spent <= p_limit',
      BUDGETS,
    ],
    ['an overdrawn budget stops nothing', 'if v_moved != v_budgets then', 'if false then', BUDGETS],
    [
      'what was spent before is forgotten',
      'stored.spent_total + excluded.spent_total',
      'excluded.spent_total',
      BUDGETS,
    ],
    ['uses are not counted', 'stored.uses_spent + excluded.uses_spent,', 'stored.uses_spent,', BUDGETS],
    [
      'what was spent in a window is forgotten',
      'excluded.spent_in_period + case\n            when stored.period_start is not distinct from excluded.period_start then',
      'excluded.spent_in_period + case\n            when false then',
      BUDGETS,
    ],
    [
      'a window never ends',
      'excluded.spent_in_period + case\n            when stored.period_start is not distinct from excluded.period_start then',
      'excluded.spent_in_period + case\n            when true then',
      BUDGETS,
    ],
    [
      'a batch consumes once of a budget',
      'sum(c.delta_total)::bigint',
      'max(c.delta_total)::bigint',
      BUDGETS,
    ],
    ['the uses of a batch count once', 'sum(c.delta_uses)::bigint', 'max(c.delta_uses)::bigint', BUDGETS],
    [
      'a decision whose predecessor lost its Proof is stored',
      'v_outcomes text[] := svc_judge_budgets(p_decisions, p_missed, p_outcomes);',
      'v_outcomes text[] := p_outcomes;',
      BUDGETS,
    ],
    [
      'an overtaken decision keeps its idempotency key',
      'perform svc_release_keys(p_decisions, p_outcomes, v_outcomes);',
      '',
      BUDGETS,
    ],
    [
      'an overtaken decision keeps its Proof',
      'v_outcomes := svc_release_proofs(p_decisions, p_outcomes, v_outcomes);',
      '',
      BUDGETS,
    ],
  ]),
  ...inFile(CLAIM_FILE, [
    [
      'another Grant under an id is stored',
      "a.grant_hash is distinct from d.binds_grant_hash then 'STALE'",
      "false then 'STALE'",
      GRANTS,
    ],
    [
      'a Grant is bound by a decision that is not stored',
      'where d.binds_grant_hash is not null and p_outcomes[d.ordinal] is null\n  order',
      'where d.binds_grant_hash is not null\n  order',
      GRANTS,
    ],
    [
      'what rests on another Grant is stored',
      'return svc_settle_budgets(p_decisions, p_missed, v_outcomes);',
      'return v_outcomes;',
      GRANTS,
    ],
    [
      'an idempotency key is free again at once',
      "interval '10 minutes'",
      "interval '0 minutes'",
      IDEMPOTENCY,
    ],
    ['an idempotency key is never free again', "interval '10 minutes'", "interval '10 years'", IDEMPOTENCY],
    [
      'of two with one key in a batch the later is stored',
      'order by d.relying_party, d.idempotency_key, d.ordinal',
      'order by d.relying_party, d.idempotency_key, d.ordinal desc',
      IDEMPOTENCY,
    ],
    [
      'who loses an idempotency key is stored',
      "and c.receipt_id is null then 'IDEMPOTENCY_TAKEN'",
      "and false then 'IDEMPOTENCY_TAKEN'",
      IDEMPOTENCY,
    ],
    ['a key that is taken over keeps its old body', 'body_hash = excluded.body_hash,', '', IDEMPOTENCY],
    [
      'a replay takes the idempotency key of another Receipt with it',
      'and stored.receipt_id = d.receipt_id',
      '',
      IDEMPOTENCY,
      RACES,
    ],
    [
      'a replay keeps its idempotency key',
      'p_before[d.ordinal] is null\n    and p_after[d.ordinal] is not null\n    and stored.relying_party',
      'false\n    and stored.relying_party',
      IDEMPOTENCY,
      OUTCOMES,
    ],
    [
      'a Proof is spent as often as one likes',
      'on conflict (grant_id, jti) do nothing',
      'on conflict (grant_id, jti) do update set expires_at = excluded.expires_at',
      OUTCOMES,
      RACES,
    ],
    ['a replay is stored', "and w.ordinal is null then 'REPLAY'", "and false then 'REPLAY'", OUTCOMES, RACES],
    [
      'of two with one Proof in a batch the later is stored',
      'order by d.spend_grant_id, d.spend_jti, d.ordinal',
      'order by d.spend_grant_id, d.spend_jti, d.ordinal desc',
      RACES,
      BUDGETS,
    ],
    [
      'a Proof can be forgotten before it expires',
      'to_timestamp(c.spend_expires_at_ms / 1000.0)',
      'to_timestamp(0)',
      OUTCOMES,
      'retention',
    ],
  ]),
  ...inFile(COMMIT_FILE, [
    ['nothing is consumed', 'perform svc_consume(p_decisions, v_outcomes);', 'null;', BUDGETS],
    ['no id is ever bound', 'if v_any.binds then', 'if false then', GRANTS],
    ['nothing is judged', 'v_outcomes := svc_judge(p_decisions, v_outcomes);', '', OUTCOMES],
    [
      'the locks are taken after the judgement',
      "v_outcomes := svc_take_locks(p_decisions, clock_timestamp() + interval '400 milliseconds');",
      'v_outcomes := array_fill(null::text, array[cardinality(p_decisions)]);',
      LOCKS,
      REVOCATION_RACES,
    ],
    ['idempotency keys are not claimed', 'if v_any.keys then', 'if false then', IDEMPOTENCY],
    ['Proofs are not spent', 'if v_any.proofs then', 'if false then', OUTCOMES],
    ['caps are not counted', 'perform svc_count_caps(p_decisions, v_outcomes);', '', ENTITLEMENTS],
  ]),
  ...inFile(STORE_FILE, [
    [
      'a commit runs at any isolation',
      "if current_setting('transaction_isolation') != 'read committed' then",
      'if false then',
      OUTCOMES,
      LOCKS,
    ],
    [
      'an acknowledged decision may be lost in a crash',
      "if current_setting('synchronous_commit') = 'off' then",
      'if false then',
      OUTCOMES,
      LOCKS,
    ],
    [
      'decisions with an outcome are stored all the same',
      'where p_outcomes[d.ordinal] is null;',
      ';',
      OUTCOMES,
    ],
    [
      'every decision of a batch has the first Receipt',
      '    p_jws[d.ordinal],\n',
      '    p_jws[1],\n',
      OUTCOMES,
    ],
    ['production checks are not marked as such', 'd.org_id is not null\n', 'false\n', ENTITLEMENTS],
  ]),
  ...inFile(REVOCATION_FILE, [
    [
      'a revocation does not wait for the commits that did not see it',
      'perform pg_advisory_xact_lock(1, hashtext(p_principal));',
      '',
      LOCKS,
      REVOCATION_RACES,
    ],
    [
      'a revocation is dated before its lock',
      '  perform pg_advisory_xact_lock(1, hashtext(p_principal));\n  v_stamp := svc_barrier_instant(p_principal, p_node_ms);',
      '  v_stamp := svc_barrier_instant(p_principal, p_node_ms);\n  perform pg_advisory_xact_lock(1, hashtext(p_principal));',
      LOCKS,
      REVOCATION_RACES,
    ],
    [
      'a second revocation moves the first one’s date',
      'and g.principal = p_principal and g.revoked_at is null',
      'and g.principal = p_principal',
      LOCKS,
      'transaction',
      REVOCATION_RACES,
    ],
  ]),
];
