/**
 * Changes that somebody with access to the database could make without the service; where fsck must report each, and
 * how it is undone.
 */
import { daysAgo } from '@svc/testkit';

/** The objects of the deployment to which tamperings and faults refer. */
export interface Known {
  readonly allowId: string;
  readonly grantId: string;
  readonly consumedId: string;
  readonly budgetId: string;
  readonly orgId: string;
  /** Objects that were revoked: an API key, an Agent, a signing key. */
  readonly revokedKeyId: string;
  readonly disabledAgent: string;
  readonly retiredKid: string;
  readonly principal: string;
  readonly relyingParty: string;
  readonly today: string;
}

export interface Tampering {
  readonly what: string;
  readonly found: readonly [check: string, where: (known: Known) => string];
  readonly change: string;
  readonly undo: string;
}

const receipt = (
  what: string,
  change: string,
  checkName = 'receipts',
  where = ({ allowId }: Known) => allowId,
): Tampering => ({
  what: `a Receipt with ${what}`,
  found: [checkName, where],
  change: `create table saved as select * from receipts where receipt_id = '$allow';
    update receipts set ${change} where receipt_id = '$allow'`,
  undo: `delete from receipts where receipt_id = '$allow'; insert into receipts select * from saved; drop table saved`,
});

const row = (table: string, what: string, change: string, found: Tampering['found']): Tampering => ({
  what: `${table} with ${what}`,
  found,
  change: `create table saved as select * from ${table}; update ${table} set ${change}`,
  undo: `delete from ${table}; insert into ${table} select * from saved; drop table saved`,
});

const gone = (table: string, checkName: string, where: (known: Known) => string): Tampering => ({
  what: `${table} emptied`,
  found: [checkName, where],
  change: `create table saved as select * from ${table}; delete from ${table}`,
  undo: `insert into ${table} select * from saved; drop table saved`,
});

const takenBack = (what: string, table: string, column: string, found: Tampering['found'][1]): Tampering => ({
  what: `${what} in force again`,
  found: ['acts', found],
  change: `create table saved as select * from ${table} where ${column} is not null; update ${table} set ${column} = null`,
  undo: `update ${table} t set ${column} = s.${column} from saved s where to_jsonb(t) - '${column}' = to_jsonb(s) - '${column}'; drop table saved`,
});

const ofToday = ({ today }: Known) => today;
const ofMonth = ({ today }: Known) => `${today.slice(0, 'YYYY-MM'.length)}-01`;
const ofBudget: Tampering['found'] = ['consumption', ({ budgetId }) => budgetId];
const ofList = () => `http://svc.test/status-lists/svc.test/1`;

export const tamperings: readonly Tampering[] = [
  {
    what: 'a table of one row without it',
    found: ['only rows', () => 'evidence_naming'],
    change: 'create table saved as select * from evidence_naming; delete from evidence_naming',
    undo: 'insert into evidence_naming select * from saved; drop table saved',
  },
  receipt(
    'one byte of its signature changed',
    `jws = left(jws, -8) || translate(right(jws, 8), 'ABCD', 'BCDA') || ''`,
  ),
  receipt('one byte of its payload changed', `jws = overlay(jws placing 'x' from 400 for 1)`),
  receipt('another content hash', `content_hash = sha256('x')`),
  receipt('another relying party', `relying_party = 'did:web:other.example'`),
  receipt('another Principal', `principal = 'did:web:other.example'`),
  receipt('another Grant', `grant_id = 'urn:svc:grant:01M7VZGC008Q2R7V9X1C4E6H8J'`),
  receipt('another Agent', `agent = 'did:key:z6Mkother'`),
  receipt('another decision', `decision = 'DENY', reason = 'GRANT_EXPIRED'`),
  receipt('another time', `evaluated_at = evaluated_at + interval '1 millisecond'`),
  receipt('a key that is not its relying party’s', `key_id = 'aaaaaaaaaaaa'`, 'callers'),
  receipt('altered bytes, in the tree', `jws = overlay(jws placing 'x' from 400 for 1)`, 'trees', ofToday),
  {
    what: 'a Receipt gone',
    found: ['trees', ofToday],
    change: `create table saved as select * from receipts where receipt_id = '$allow';
      delete from receipts where receipt_id = '$allow'`,
    undo: 'insert into receipts select * from saved; drop table saved',
  },
  {
    what: 'a Receipt gone of which its spent Proof tells, whether its day is closed or not',
    found: ['traces', ({ grantId }) => grantId],
    change: `create table saved as select * from receipts where receipt_id = '$allow';
      delete from receipts where receipt_id = '$allow'`,
    undo: 'insert into receipts select * from saved; drop table saved',
  },
  {
    what: 'a Receipt gone of which an idempotency key tells',
    found: ['traces', () => 'drc_01M7VZGC008Q2R7V9X1C4E6H8K'],
    change: `insert into idempotency_keys (relying_party, key, body_hash, receipt_id, created_at)
      values ('did:web:shop.example', 'a', 'sha256:', 'drc_01M7VZGC008Q2R7V9X1C4E6H8K', svc_now())`,
    undo: `delete from idempotency_keys where receipt_id = 'drc_01M7VZGC008Q2R7V9X1C4E6H8K'`,
  },
  row('checkpoints', 'one byte of its JWS changed', `jws = overlay(jws placing 'x' from 200 for 1)`, [
    'chain',
    ofToday,
  ]),
  row('checkpoints', 'another root', `root = 'sha256:' || repeat('0', 64)`, ['trees', ofToday]),
  row('checkpoints', 'another hash', `hash = 'sha256:' || repeat('0', 64)`, ['chain', ofToday]),
  row('checkpoints', 'another content root', `content_root = 'sha256:' || repeat('0', 64)`, [
    'trees',
    ofToday,
  ]),
  row('checkpoints', 'another size', 'tree_size = 2', ['trees', ofToday]),
  row(
    'status_lists',
    'one byte of its credential changed',
    `credential = overlay(credential placing 'x' from 300 for 1)`,
    ['status lists', ofList],
  ),
  row('status_lists', 'one bit changed', 'bits = set_bit(bits, 7, 1 - get_bit(bits, 7))', [
    'status lists',
    ofList,
  ]),
  row('status_lists', 'another time', `valid_from = valid_from - interval '1 second'`, [
    'status lists',
    ofList,
  ]),
  row('status_lists', 'another Principal', `principal = 'did:web:other.example'`, ['status lists', ofList]),
  row('status_lists', 'another number', 'number = number + 7', ['status lists', ofList]),
  row('status_lists', 'an entry to be given out again', 'next_ordinal = greatest(next_ordinal - 1, 0)', [
    'status lists',
    ofList,
  ]),
  row(
    'status_lists',
    'one bit of the order of its entries changed',
    'permutation_key = set_bit(permutation_key, 7, 1 - get_bit(permutation_key, 7))',
    ['status lists', ofList],
  ),
  {
    what: 'a list of a Principal that had an ALLOW, passed off as released',
    found: ['released lists', ofList],
    change: `create table saved as select * from status_lists; create table saved_grants as select * from grants;
      insert into released_status_lists (url, principal, domain, number) select url, principal, domain, number from status_lists;
      delete from grants; delete from status_lists`,
    undo: `insert into status_lists select * from saved; insert into grants select * from saved_grants;
      delete from released_status_lists l using saved s where l.url = s.url; drop table saved; drop table saved_grants`,
  },
  row('released_status_lists', 'a Principal that nobody released', `principal = 'did:web:other.example'`, [
    'released lists',
    () => 'http://svc.test/status-lists/released.example/1',
  ]),
  gone('status_lists', 'lists of Grants', ({ grantId }) => grantId),
  gone('status_lists', 'published lists', ofList),
  gone('grants', 'status lists', ofList),
  {
    what: 'a status list and its Grants put back together',
    found: ['published lists', ofList],
    change: `create table saved as select * from status_lists; create table saved_grants as select * from grants;
      update grants set revocation_recorded_at = null, revoked_at = null;
      update status_lists set (credential, credential_hash) = (select convert_from(body, 'UTF8'), hash from evidence
        where content_type = 'application/vc+jwt' order by created_at limit 1), bits = decode(repeat('00', 16384), 'hex')`,
    undo: `delete from status_lists; insert into status_lists select * from saved; drop table saved;
      delete from grants; insert into grants select * from saved_grants; drop table saved_grants`,
  },
  row('grants', 'a revocation taken back', 'revocation_recorded_at = null, revoked_at = null', [
    'status lists',
    ofList,
  ]),
  row(
    'grants',
    'a revocation taken back that was audited',
    'revocation_recorded_at = null, revoked_at = null',
    ['acts', ({ grantId }) => grantId],
  ),
  takenBack('an API key that was revoked', 'api_keys', 'revoked_at', ({ revokedKeyId }) => revokedKeyId),
  takenBack('an Agent that was disabled', 'agents', 'disabled_at', ({ disabledAgent }) => disabledAgent),
  {
    what: 'an Agent that was disabled gone, so that it may be registered anew',
    found: ['acts', ({ disabledAgent }) => disabledAgent],
    change: `create table saved as select * from agents where disabled_at is not null; delete from agents where disabled_at is not null`,
    undo: `insert into agents select * from saved; drop table saved`,
  },
  {
    what: 'a key that was retired in force again',
    found: ['acts', ({ retiredKid }) => retiredKid],
    change: `create table saved as select * from principal_keys where state = 'retired';
      update principal_keys set state = 'active' where state = 'retired'`,
    undo: `update principal_keys k set state = s.state from saved s where s.kid = k.kid; drop table saved`,
  },
  row('grants', 'another entry', 'status_index = (status_index + 1) % 131072', ['status lists', ofList]),
  row('grants', 'another Agent', `agent = 'did:key:z6Mkother'`, ['revocations', ({ allowId }) => allowId]),
  row('grants', 'an earlier revocation', `revoked_at = revoked_at - interval '1 day'`, [
    'revocations',
    ({ allowId }) => allowId,
  ]),
  row('api_keys', 'another subject', `subject = 'did:web:other.example'`, [
    'callers',
    ({ allowId }) => allowId,
  ]),
  row('attestations', 'another relying party', `relying_party = 'did:web:other.example'`, [
    'outcomes',
    () => 'oat_',
  ]),
  row('attestations', 'a Receipt that it takes out of statistics', 'issuer_unverified = true', [
    'outcomes',
    () => 'oat_',
  ]),
  {
    what: 'attestations with one of an ISSUER_UNVERIFIED that statistics show, of a day that could not be packed',
    found: ['outcomes', () => 'oat_shown'],
    change: `update receipts set reason = 'ISSUER_UNVERIFIED' where reason = 'PROOF_REPLAYED';
      insert into attestations (attestation_id, receipt_id, ordinal, relying_party, principal, evaluated_at, decision, type, occurred_at,
        issuer_unverified)
      select 'oat_shown', receipt_id, 1, relying_party, principal, evaluated_at, decision, 'cancelled', '', false
      from receipts where reason = 'ISSUER_UNVERIFIED';
      insert into cold_days (day, state, problem) select (evaluated_at at time zone 'UTC')::date, 'broken', 'its tree'
      from attestations where attestation_id = 'oat_shown'`,
    undo: `delete from cold_days; delete from attestations where attestation_id = 'oat_shown';
      update receipts set reason = 'PROOF_REPLAYED' where reason = 'ISSUER_UNVERIFIED'`,
  },
  row('consumption_balances', 'a use forgotten', 'uses_spent = uses_spent + 1', ofBudget),
  row('consumption_balances', 'another time', `updated_at = updated_at - interval '1 second'`, ofBudget),
  row('consumption_events', 'other amounts', `delta_uses = 2 where cause = 'consume'`, ofBudget),
  row('consumption_events', 'another restore', `delta_uses = -2 where cause = 'restore'`, ofBudget),
  row('consumption_events', 'another budget', `key = 'sha256:' || repeat('0', 64)`, ofBudget),
  row('consumption_events', 'another version', `version = 7 where cause = 'restore'`, [
    'restored budgets',
    () => 'oat_',
  ]),
  {
    what: 'consumption_events with a consume gone',
    found: ['receipts', ({ consumedId }) => consumedId],
    change: `create table saved as select * from consumption_events; delete from consumption_events`,
    undo: `insert into consumption_events select * from saved; drop table saved`,
  },
  row(
    'attestations',
    'a restore that it did not cause',
    `consumption_version = 9 where consumption_cause is not null`,
    ['consumption', ({ budgetId }) => budgetId],
  ),
  row('consumption_balances', 'another limit', 'limit_uses = limit_uses + 1', ofBudget),
  ...['usage_counts', 'usage_by_key', 'usage_by_principal', 'usage_by_day'].map((table) =>
    row(table, 'one too many', 'verifies = verifies + 1', [table.replaceAll('_', ' '), ofToday]),
  ),
  ...['usage_monthly', 'usage_monthly_by_principal'].map((table) =>
    row(table, 'one too many', 'verifies = verifies + 1', [table.replaceAll('_', ' '), ofMonth]),
  ),
  row('usage_by_key', 'a production check forgotten', 'production_checks = 0', [
    'production checks',
    ofToday,
  ]),
  row('usage_by_grant', 'other days', `days = '{}'`, ['days of Grants', ({ grantId }) => grantId]),
  gone('usage_by_grant', 'days of Grants', ({ grantId }) => grantId),
  ...(
    [
      ['principals', 'has_pauses', ({ principal }) => principal],
      ['relying_parties', 'is_paused', ({ relyingParty }) => relyingParty],
      ['ledger_seal', 'is_paused', () => 'service'],
    ] as const satisfies readonly (readonly [string, string, (known: Known) => string])[]
  ).map(([table, flag, where]): Tampering => {
    const flip = `update ${table} set ${flag} = not ${flag}`;
    return {
      what: `${table} paused otherwise than is listed`,
      found: ['pauses', where],
      change: flip,
      undo: flip,
    };
  }),
  {
    what: 'a live key of nobody',
    found: ['keys', () => 'aaaaaaaaaaaa'],
    change: `insert into api_keys (key_hash, key_id, role, subject) values (sha256('nobody'), 'aaaaaaaaaaaa', 'rp', 'did:web:nobody.example')`,
    undo: `delete from api_keys where key_id = 'aaaaaaaaaaaa'`,
  },
  row('entitlements', 'a check forgotten', 'checks_since_cap = checks_since_cap - 1', [
    'caps',
    ({ orgId }) => orgId,
  ]),
  gone('closed_days', 'closed days', ofToday),
  {
    what: 'a day closed that nobody has reached',
    found: ['closed days', () => daysAgo(-5)],
    change: `insert into closed_days (day) values ('${daysAgo(-5)}')`,
    undo: `delete from closed_days where day = '${daysAgo(-5)}'`,
  },
  row('restores', 'a span that nobody stated', "lost_until = lost_until - interval '1 second'", [
    'restores',
    () => 'epoch 1',
  ]),
  row('deployment', 'an earlier first day', 'first_day = first_day - 1', ['chain', ofToday]),
  {
    what: 'evidence gone that a Receipt names',
    found: ['receipts', () => 'drc_'],
    change: `create table saved as select * from evidence; delete from evidence where content_type = 'application/did+json'`,
    undo: `delete from evidence; insert into evidence select * from saved; drop table saved`,
  },
  {
    what: 'an artifact with one byte changed',
    found: ['evidence', () => 'sha256:'],
    change: `create table saved as select * from evidence;
      alter table evidence drop constraint hash_is_of_body; update evidence set body = body || 'x'`,
    undo: `delete from evidence; insert into evidence select * from saved; drop table saved;
      alter table evidence add constraint hash_is_of_body
        check (hash = 'sha256:' || encode(sha256(body), 'hex'))`,
  },
];
