/** What is stored is proven to be what was signed; whatever is changed behind the service's back is found and named. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CheckSummary, checkDatabase, type Fault } from '@svc/fsck';
import { type ServiceDeps, signRestoreStatement } from '@svc/service';
import { daysAgo, insertReceipts, receiptIdsOf, tamper } from '@svc/testkit';
import { programFile } from '@svc/testkit/process/program-file';
import { sampleOf } from '@svc/testkit/sampled';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { bodyFor, CALL, issueBudget, usesOf } from '../world/budgets.ts';
import { closeToday } from '../world/close-today.ts';
import { withProcesses } from '../world/deployment.ts';
import { issueGrant, receiptOf, type Tenants, verifyBody } from '../world/tenants.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'svc-fsck-test-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const deployment = withProcesses({ SVC_DATA_DIR: dataDir });

/** A span that was lost, as its statement has it. */
const statedRestore = async (service: ServiceDeps) => {
  const span = { lostFromMs: 1_000, lostUntilMs: 2_000, quarantinedUntilMs: 3_000 };
  const restore = { epoch: 1, ...span, reinstatedDays: [] };
  const statement = await signRestoreStatement(service, { ...restore, revokedAgain: 0, previous: null });
  return { ...restore, leastListNumber: 1, statement };
};

let tenants: Tenants;
let allowId: string;
let grantId: string;
let consumedId: string;
let budgetId: string;
let orgId: string;
const today = daysAgo(0);

beforeAll(async () => {
  orgId = await deployment.createOrg();
  tenants = await deployment.createTenants({ orgId, rp: { profile: 'svc-base-v2' } });
  await pushCap(orgId);
  const grant = await issueGrant(tenants);
  grantId = grant.grantId;
  const body = await verifyBody(tenants, grant);
  const verify = (sent: unknown) => deployment.call('POST', '/verify', { key: tenants.rpKey, body: sent });
  const allow = receiptOf(await verify(body));
  const replay = receiptOf(await verify(body));
  const malformed = receiptOf(await verify({ grant: '', proof: '', action: {} }));
  expect([allow.decision, replay.reason, malformed.reason]).toEqual([
    'ALLOW',
    'PROOF_REPLAYED',
    'GRANT_MALFORMED',
  ]);
  allowId = allow.receipt_id;
  const outcome = { type: 'fulfilled', occurred_at: '2026-01-01T00:00:00Z' };
  await deployment.call('POST', `/decisions/${allowId}/outcomes`, { key: tenants.rpKey, body: outcome });
  const budget = await issueBudget(tenants, usesOf(1));
  const consumed = receiptOf(await verify(await bodyFor(tenants, budget, CALL)));
  const cancelled = { ...outcome, type: 'cancelled' };
  const moved = await deployment.call('POST', `/decisions/${consumed.receipt_id}/outcomes`, {
    key: tenants.rpKey,
    body: cancelled,
  });
  expect(moved.json.consumption).toEqual({ cause: 'restore', version: 2 });
  [budgetId, consumedId] = [budget.grantId, consumed.receipt_id];
  await tenants.principal.grants.revoke(grant.grantId);
  await releaseClaim();
  const closed = await closeToday(deployment, dataDir, async (service) => {
    const { store } = service;
    await store.restores.insert(await statedRestore(service));
    await deployment.sql.query('update ledger_seal set sealed_until = clock_timestamp()');
    expect(await store.usage.countSealed(1_000)).toBe(4);
  });
  expect(closed).toEqual({ closed: [today], latest: today });
});

/** A Principal that never proved its domain, with a list that has published a revocation. */
const releaseClaim = async () => {
  const did = 'did:web:released.example';
  await deployment.sql.query(
    `insert into principals (did, kind, domain, verification_state, verification_token, may_be_named, org_id, claim_expires_at)
    values ($1, 'hosted', 'released.example', 'unverified', 'token', true, $2, now() + interval '1 day')`,
    [did, orgId],
  );
  const key = await deployment.createKey('principal', did);
  const allocated = await deployment.call('POST', '/grants', { key, body: { agent: tenants.agent.did } });
  const revoked = await deployment.call('POST', '/revoke', {
    key,
    body: { grant_id: allocated.json.id },
  });
  expect([allocated.status, revoked.status]).toEqual([201, 200]);
  const body = { kind: 'principal' };
  const released = await deployment.call('POST', `/claims/${did}/release`, { key: ADMIN_TOKEN, body });
  expect(released.status).toBe(200);
};

const pushCap = (id: string) =>
  deployment.call('PUT', `/orgs/${id}/entitlement`, {
    key: ADMIN_TOKEN,
    body: {
      production: 'allowed',
      production_until: null,
      check_cap: 1_000,
      cap_since: '2026-01-01T00:00:00Z',
      reason: 'paid',
      as_of: new Date().toISOString(),
    },
  });

const check = async (): Promise<{ summary: CheckSummary; faults: Fault[] }> => {
  const faults: Fault[] = [];
  const summary = await checkDatabase({
    databaseUrl: deployment.databaseUrl,
    onFault: (fault) => faults.push(fault),
  });
  return { summary, faults };
};

it('a deployment at work has no faults, and every kind of thing was looked at', async () => {
  const { summary, faults } = await check();
  expect(faults).toEqual([]);
  expect(summary.checks.filter(({ looked }) => looked === 0)).toEqual([]);
  expect(summary.checks.find(({ name }) => name === 'receipts')?.looked).toBe(4);
});

interface Tampering {
  readonly what: string;
  readonly found: readonly [check: string, where: () => string];
  readonly change: string;
  readonly undo: string;
}

const receipt = (what: string, change: string, checkName = 'receipts', where = () => allowId): Tampering => ({
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

const gone = (table: string, checkName: string, where: () => string): Tampering => ({
  what: `${table} emptied`,
  found: [checkName, where],
  change: `create table saved as select * from ${table}; delete from ${table}`,
  undo: `insert into ${table} select * from saved; drop table saved`,
});

const ofToday = () => today;
const ofMonth = () => `${today.slice(0, 'YYYY-MM'.length)}-01`;
const ofBudget: Tampering['found'] = ['consumption', () => budgetId];
const ofList = () => `http://svc.test/status-lists/svc.test/1`;

const tamperings: readonly Tampering[] = [
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
    found: ['traces', () => grantId],
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
  row('status_lists', 'another number', 'number = 7', ['status lists', ofList]),
  row('status_lists', 'an entry to be given out again', 'next_ordinal = next_ordinal - 1', [
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
  gone('status_lists', 'lists of Grants', () => grantId),
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
    ['acts', () => grantId],
  ),
  row('grants', 'another entry', 'status_index = (status_index + 1) % 131072', ['status lists', ofList]),
  row('grants', 'another Agent', `agent = 'did:key:z6Mkother'`, ['revocations', () => allowId]),
  row('grants', 'an earlier revocation', `revoked_at = revoked_at - interval '1 day'`, [
    'revocations',
    () => allowId,
  ]),
  row('attestations', 'another relying party', `relying_party = 'did:web:other.example'`, [
    'outcomes',
    () => 'oat_',
  ]),
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
    found: ['receipts', () => consumedId],
    change: `create table saved as select * from consumption_events; delete from consumption_events`,
    undo: `insert into consumption_events select * from saved; drop table saved`,
  },
  row(
    'attestations',
    'a restore that it did not cause',
    `consumption_version = 9 where consumption_cause is not null`,
    ['consumption', () => budgetId],
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
  row('usage_by_grant', 'other days', `days = '{}'`, ['days of Grants', () => grantId]),
  gone('usage_by_grant', 'days of Grants', () => grantId),
  row('entitlements', 'a check forgotten', 'checks_since_cap = checks_since_cap - 1', ['caps', () => orgId]),
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

describe('it finds', () => {
  it.each(sampleOf(tamperings, 10))('$what', async ({ found: [name, where], change, undo }) => {
    const at = (text: string) => text.replaceAll('$allow', allowId);
    await tamper(deployment.databaseUrl, at(change));
    try {
      const { faults } = await check();
      expect(faults.map((fault) => `${fault.check}: ${fault.where}`).join('\n')).toContain(
        `${name}: ${where()}`,
      );
    } finally {
      await tamper(deployment.databaseUrl, at(undo));
    }
  });

  it('nothing once all of that is undone', async () => {
    expect((await check()).faults).toEqual([]);
  });

  it('a Receipt that nobody signed, and one added to a closed day', async () => {
    const [added = ''] = receiptIdsOf(today, 1);
    await insertReceipts(deployment.databaseUrl, [added as never], [today]);
    const { faults } = await check();
    await tamper(deployment.databaseUrl, 'delete from receipts where receipt_id = $1', [added]);
    const named = faults.map((fault) => `${fault.check}: ${fault.where}`);
    expect(named).toEqual(
      expect.arrayContaining([`receipts: ${added}`, `trees: ${today}`, `callers: ${added}`]),
    );
  });
});

describe('svc-admin fsck', () => {
  const run = (parameters: readonly string[], env: Record<string, string>) =>
    new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
      const program = programFile('apps/admin');
      const child = spawn(process.execPath, [program, ...parameters], { env });
      const text = { out: '', err: '' };
      child.stdout.on('data', (chunk) => {
        text.out += chunk;
      });
      child.stderr.on('data', (chunk) => {
        text.err += chunk;
      });
      child.once('close', (code) => resolve({ code, ...text }));
    });

  it('ends with 0 where all is well, with 1 and the faults where not, with 2 where it cannot tell', async () => {
    const env = { DATABASE_URL: deployment.databaseUrl };
    const well = await run(['fsck'], env);
    expect([well.code, well.err]).toEqual([0, '']);
    expect(well.out).toContain('No faults.');
    await tamper(deployment.databaseUrl, 'update entitlements set checks_since_cap = checks_since_cap + 1');
    const faulty = await run(['fsck'], env);
    const json = await run(['fsck', '--json'], env);
    await tamper(deployment.databaseUrl, 'update entitlements set checks_since_cap = checks_since_cap - 1');
    expect([faulty.code, faulty.err.trim()]).toEqual([1, `caps: ${orgId}: 5 are counted, and there are 4`]);
    expect([json.code, JSON.parse(json.out).faults]).toEqual([
      1,
      [{ check: 'caps', where: orgId, problem: '5 are counted, and there are 4' }],
    ]);
    expect((await run(['fsck'], { DATABASE_URL: 'postgres://nobody:none@127.0.0.1:1/x' })).code).toBe(2);
    expect((await run(['fsck'], {})).err).toContain('DATABASE_URL');
    expect((await run(['mend'], env)).code).toBe(2);
  });
});
