/**
 * fsck proves that what is stored is what was signed; it finds and names every change that was made without the
 * service.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadSecrets } from '@svc/config';
import { type CheckSummary, checkDatabase, type Fault } from '@svc/fsck';
import { createLogger, type OpenedService, openService, readConfig } from '@svc/process';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { type ObjectStore, type ServiceDeps, signRestoreStatement } from '@svc/service';
import { daysAgo, insertReceipts, receiptIdsOf, tamper } from '@svc/testkit';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../world/api-node.ts';
import { bodyFor, CALL, issueBudget, usesOf } from '../world/budgets.ts';
import { closeToday } from '../world/close-today.ts';
import { withSeparateNodes } from '../world/deployment.ts';
import { createKeyedPrincipal } from '../world/keyed-principal.ts';
import { runAdmin } from '../world/run-admin.ts';
import { runProgramBeside } from '../world/run-program.ts';
import { type Known, tamperings } from '../world/tamperings.ts';
import { issueGrant, receiptOf, type Tenants, verifyBody } from '../world/tenants.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'svc-fsck-test-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const deployment = withSeparateNodes({ SVC_DATA_DIR: dataDir });

/** A lost span, as its statement describes it. */
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
let takenBack: Pick<Known, 'revokedKeyId' | 'disabledAgent' | 'retiredKid'>;
const today = daysAgo(0);
const known = (): Known => ({
  ...{ allowId, grantId, consumedId, budgetId, orgId, today },
  ...takenBack,
  ...{ principal: tenants.principalDid, relyingParty: tenants.rpDid },
});

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
  takenBack = await takeBack();
  const closed = await closeToday(deployment, dataDir, async (service) => {
    const { store } = service;
    await store.restores.insert(await statedRestore(service));
    await deployment.sql.query('update ledger_seal set sealed_until = clock_timestamp()');
    expect(await store.usage.countSealed(1_000)).toBe(4);
  });
  expect(closed).toEqual({ closed: [today], latest: today });
});

/** Revokes, for a Principal of its own, one of its two keys, its Agent, and the API key with which it does so. */
const takeBack = async (): Promise<typeof takenBack> => {
  const { kids, key, signingWith } = await createKeyedPrincipal(deployment, 2, tenants, orgId);
  const [retiredKid = ''] = kids;
  const { did: disabledAgent } = signingWith(1).agent;
  const { json: me } = await deployment.call('GET', '/api-keys', { key });
  const [{ key_id: revokedKeyId = '' } = {}] = me.keys as readonly { key_id?: string }[];
  await deployment.call('POST', '/agents', { key, body: { did: disabledAgent } });
  // An Agent that is not in the inventory: it is ended with its Grants, and registered afterwards.
  const { did: unnoted } = agentFromJwk((await generateAgentKey()).privateJwk);
  await deployment.call('POST', '/grants', { key, body: { agent: unnoted } });
  expect((await deployment.call('POST', `/agents/${unnoted}/disable`, { key })).status).toBe(200);
  expect((await deployment.call('POST', '/agents', { key, body: { did: unnoted } })).status).toBe(201);
  const statuses = [];
  for (const path of [
    `/keys/${encodeURIComponent(retiredKid)}/retire`,
    `/agents/${disabledAgent}/disable`,
    `/api-keys/${revokedKeyId}/revoke`,
  ])
    statuses.push((await deployment.call('POST', path, { key })).status);
  expect(statuses).toEqual([200, 200, 200]);
  return { revokedKeyId, disabledAgent, retiredKid };
};

/** Releases a Principal that never proved its domain and has a status list with a published revocation. */
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

/** The database as the second of two servers, of which the first does not answer. */
const ofSeveral = (url: string) => url.replace(new URL(url).host, `127.0.0.1:1,${new URL(url).host}`);

const check = async (objects?: ObjectStore): Promise<{ summary: CheckSummary; faults: Fault[] }> => {
  const faults: Fault[] = [];
  const summary = await checkDatabase({
    ...{ databaseUrl: ofSeveral(deployment.databaseUrl), ...(objects && { objects }) },
    onFault: (fault) => faults.push(fault),
  });
  return { summary, faults };
};

it('fsck finds no faults in a working deployment, with rows for every check and several servers in the URL', async () => {
  const { summary, faults } = await check();
  expect(faults).toEqual([]);
  expect(summary.checks.filter(({ looked }) => looked === 0)).toEqual([]);
  expect(summary.checks.find(({ name }) => name === 'receipts')?.looked).toBe(4);
});

describe('fsck finds', () => {
  it.each(sampleOf(tamperings, 5))('$what', async ({ found: [name, where], change, undo }) => {
    const at = (text: string) => text.replaceAll('$allow', allowId);
    await tamper(deployment.databaseUrl, at(change));
    try {
      const { faults } = await check();
      expect(faults.map((fault) => `${fault.check}: ${fault.where}`).join('\n')).toContain(
        `${name}: ${where(known())}`,
      );
    } finally {
      await tamper(deployment.databaseUrl, at(undo));
    }
  });

  it('nothing once all changes are undone', async () => {
    expect((await check()).faults).toEqual([]);
  });

  it('an unsigned Receipt that was added to a closed day', async () => {
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

const run = (parameters: readonly string[], env: Record<string, string>) =>
  runProgramBeside('apps/admin', parameters, env);

describe('svc-admin fsck', () => {
  const ONE_MORE = 'update entitlements set checks_since_cap = checks_since_cap + 1';
  const ONE_LESS = 'update entitlements set checks_since_cap = checks_since_cap - 1';
  const env = () => ({ DATABASE_URL: deployment.databaseUrl });

  it('exits with 0 without faults, with 1 and the faults otherwise, and with 2 if the database is unreachable', async () => {
    const nowhere = { DATABASE_URL: 'postgres://nobody:none@127.0.0.1:1/x' };
    const well = await runAdmin(['fsck'], env());
    const away = await runAdmin(['fsck'], nowhere);
    expect([well.status, well.err, away.status]).toEqual([0, '', 2]);
    expect(well.out).toContain('No faults.');
    await tamper(deployment.databaseUrl, ONE_MORE);
    const faulty = await run(['fsck'], env()).finally(() => tamper(deployment.databaseUrl, ONE_LESS));
    expect([faulty.status, faulty.err.trim()]).toEqual([1, `caps: ${orgId}: 5 are counted, and there are 4`]);
  });

  it.runIf(isDeep)(
    'prints the faults as JSON, names a missing DATABASE_URL, and exits with 2 for an unknown command',
    async () => {
      await tamper(deployment.databaseUrl, ONE_MORE);
      const json = await run(['fsck', '--json'], env()).finally(() =>
        tamper(deployment.databaseUrl, ONE_LESS),
      );
      expect([json.status, JSON.parse(json.out).faults]).toEqual([
        1,
        [{ check: 'caps', where: orgId, problem: '5 are counted, and there are 4' }],
      ]);
      expect((await run(['fsck'], {})).err).toContain('DATABASE_URL');
      expect((await run(['mend'], env())).status).toBe(2);
    },
  );
});

describe.runIf(isDeep)('svc-admin fsck --cold, with the Receipts in objects only', () => {
  const env = () => ({
    ...{ DATABASE_URL: deployment.databaseUrl, SVC_BASE_URL: 'http://svc.test', SVC_DATA_DIR: dataDir },
    ...{ SVC_COLD: pathToFileURL(join(dataDir, 'cold')).href, SVC_HOT_DAYS: '1' },
  });
  let opened: OpenedService;
  const faults = async (): Promise<string[]> =>
    (await check(opened.packing?.objects)).faults.map(
      ({ check: name, where, problem }) => `${name}: ${where}: ${problem}`,
    );

  beforeAll(async () => {
    // The state once the day is over: everything is counted and named, and no Proof is fresh any more.
    await tamper(
      deployment.databaseUrl,
      `insert into content_checks (day, checked_at, is_intact) values ('${today}', now(), true);
       update ledger_count set counted_before = svc_lowest_receipt_id('${daysAgo(-1)}T00:00:00Z');
       update evidence_naming set named_before = svc_lowest_receipt_id('${daysAgo(-1)}T00:00:00Z');
       delete from spent_proofs; delete from idempotency_keys`,
    );
    const packed = await run(['ledger', 'pack', '--day', today], env());
    expect([packed.status, packed.err]).toEqual([0, '']);
    // A round lets it leave the ledger only hours later.
    await tamper(
      deployment.databaseUrl,
      `select svc_keep_verifiers('${today}', 1000); select svc_detach_day('${today}')`,
    );
    const { rows } = await deployment.sql.query('select state from cold_days');
    expect(rows).toEqual([{ state: 'cold' }]);
    const config = readConfig({ ...env(), SVC_ADMIN_TOKEN: ADMIN_TOKEN, SVC_DOMAIN: DOMAIN });
    const secrets = await loadSecrets(config);
    const { databaseUrl } = deployment;
    opened = await openService({ config, secrets, databaseUrl, logger: createLogger('error') });
    expect(opened.packing).not.toBeNull();
  });
  afterAll(() => opened?.close());

  it('finds no faults', async () => {
    const { status, out } = await run(['fsck', '--cold', '--json'], env());
    expect([status, JSON.parse(out).faults]).toEqual([0, []]);
  });

  const found: [string, string][] = [
    ['grants with another Agent', 'cold-days'],
    ['grants with an earlier revocation', 'cold-days'],
    ['api_keys with another subject', 'cold-days'],
    ['entitlements with a check forgotten', 'caps'],
    ['consumption_balances with another limit', 'cold-days'],
  ];
  it.each(sampleOf(found, 2))('finds %s', async (what, name) => {
    const tampering = tamperings.find((one) => one.what === what) ?? expect.unreachable(what);
    const { change, undo } = tampering;
    await tamper(deployment.databaseUrl, change);
    try {
      const where = tampering.found[1](known());
      expect((await faults()).join('\n')).toContain(`${name}: ${where}`);
    } finally {
      await tamper(deployment.databaseUrl, undo);
    }
  });
});
