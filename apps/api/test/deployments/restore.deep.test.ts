/**
 * A backup is restored (protocol §10, docs/operations.md): the database lacks what came after it, and nothing else
 * does. The test uses a real base backup, rolled forward to a point in time; then the service, `svc-admin restore`, and
 * the service again.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatTimestamp, ulidTimeMs } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import {
  type ArchivedCluster,
  type RestoredCluster,
  startArchivedCluster,
} from '@svc/testkit/archived-cluster';
import { createDatabase } from '@svc/testkit/database';
import { moveClockOf } from '@svc/testkit/store/movable-clock';
import { verifyRestoreStatement } from '@svc/transparency';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ADMIN_TOKEN, type ApiNodes, startApiNodes } from '../world/api-node.ts';
import { bodyFor, buy, issueBudget, totalOf } from '../world/budgets.ts';
import { createFence, readiness, svcAdmin, until, untilKept } from '../world/fence.ts';
import { createHolders, describeTaken, type Holders, takeAway, takeAwayAtLast } from '../world/taken-away.ts';
import {
  call,
  callJson,
  callUntilSettled,
  createTenants,
  type HeldGrant,
  issueGrant,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const EACH = 12;
/** Milliseconds from the last head to the end of the quarantine. */
const QUARANTINE_MS = 330_000;

const fence = createFence();
let cluster: ArchivedCluster;
let restored: RestoredCluster;
const sessions: Client[] = [];

const connect = async (url: string): Promise<Client> => {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  sessions.push(client);
  return client;
};

const withNodes = async <T>(
  url: string,
  work: (nodes: ApiNodes['processes'], api: ApiNodes) => Promise<T>,
) => {
  const api = await startApiNodes(2, url, fence.env);
  try {
    return await work(api.processes, api);
  } finally {
    await api.stop();
  }
};

interface Before {
  readonly tenants: Tenants;
  /** Grants that were not used before the moment of the backup. */
  readonly grants: readonly HeldGrant[];
  /** A Grant that was allowed before it. */
  readonly known: HeldGrant;
  /** As `known`; both are paused and resumed in the lost span, and the first is paused once more. */
  readonly pausedAtLast: HeldGrant;
  readonly resumedAtLast: HeldGrant;
  /** As `known`, with a total of which one half is drawn before the backup and the other in the lost span. */
  readonly budget: HeldGrant;
  /** Holders from whom something is taken in the lost span. */
  readonly holders: Holders;
}

const HOSTED = 'did:web:lost-its-domain.example';

/** Inserts it as it is stored a moment after its domain was proven. */
const insertHosted = (sql: Client) =>
  sql.query(
    `insert into principals (did, kind, domain, verification_state, verified_since, last_checked_at, last_proven_at,
      verification_token, may_be_named)
    values ($1, 'hosted', 'lost-its-domain.example', 'verified', svc_now(), svc_now(), svc_now(), 'token', true)`,
    [HOSTED],
  );

const issueMany = (tenants: Tenants, count: number) =>
  Promise.all(Array.from({ length: count }, () => issueGrant(tenants)));

const verify = (baseUrl: string, { rpKey }: Tenants, body: unknown) =>
  callUntilSettled(baseUrl, 'POST', '/verify', { key: rpKey, body });

const indexesOf = async (sql: Client) => {
  const { rows } = await sql.query<{ entry: string }>(
    `select status_list_url || '#' || status_index as entry from grants`,
  );
  return rows.map(({ entry }) => entry);
};

/** What the former database promised in the lost span. */
interface Lost {
  readonly revoked: readonly HeldGrant[];
  readonly logOnly: HeldGrant;
  readonly spent: readonly object[];
  readonly entries: readonly string[];
  readonly slug: string;
  readonly closed: readonly string[];
  readonly receipts: readonly string[];
  readonly log: readonly string[];
}

let before: Before;
let lost: Lost;

const promiseAndLose = async (): Promise<Lost> => {
  const sql = await connect(cluster.url);
  return withNodes(cluster.url, async ([first, second]) => {
    if (first === undefined || second === undefined) throw new Error('two nodes');
    const { grants } = before;
    const tenants = before.tenants.at?.(first.baseUrl) ?? before.tenants;
    const slug = 'taken-in-the-lost-span';
    await createTenants(first.baseUrl);
    await callJson(first.baseUrl, 'POST', '/orgs', { key: ADMIN_TOKEN, body: { slug, name: 'Lost' } });
    const spent = await Promise.all(grants.slice(EACH).map((grant) => verifyBody(tenants, grant)));
    const answers = await Promise.all(
      spent.map((body, i) => verify(i % 2 ? first.baseUrl : second.baseUrl, tenants, body)),
    );
    const receipts = answers.map(receiptOf);
    expect(receipts.map(({ decision }) => decision)).toEqual(Array(EACH).fill('ALLOW'));
    const revoked = grants.slice(0, EACH);
    for (const { grantId } of revoked.slice(0, -1)) await tenants.principal.grants.revoke(grantId);
    await issueMany(tenants, EACH);
    const use = await bodyFor(tenants, before.budget, buy(100));
    expect(receiptOf(await verify(first.baseUrl, tenants, use)).decision).toBe('ALLOW');
    const entries = await indexesOf(sql);
    const closed = await takeAway(first.baseUrl, sql, before.holders);
    await untilKept(sql);
    // The last revocation is missing beside the fence too: only the log has it.
    await sql.query('alter table status_lists disable trigger note_list');
    const logOnly = revoked.at(-1) as HeldGrant;
    await tenants.principal.grants.revoke(logOnly.grantId);
    // Several changes of a pause, of which the last one must hold.
    await sql.query('alter table pauses disable trigger note_revoked');
    const { pauses } = tenants.principal;
    const ofGrant = ({ grantId }: HeldGrant) => ({ scope: 'grant', subject: grantId }) as const;
    for (const grant of [before.pausedAtLast, before.resumedAtLast]) {
      await pauses.pause(ofGrant(grant));
      await pauses.resume(ofGrant(grant));
    }
    await pauses.pause(ofGrant(before.pausedAtLast));
    await takeAwayAtLast(second.baseUrl, sql, before.holders);
    return {
      ...{ revoked, logOnly, spent, entries, slug, closed },
      receipts: receipts.map(({ receipt_id }) => receipt_id),
      log: [...first.log, ...second.log],
    };
  });
};

/** A restore that has repeated all revocations, and then fails at a checkpoint. */
const cutOff = async (log: string) => {
  const key = `checkpoints/${nativeCrypto.sha256Hex(lost.closed[0] ?? '')}`;
  const whole = (await fence.fenceStore.find(key))?.text ?? '';
  const replace = async (text: string) =>
    fence.fenceStore.put(key, text, (await fence.fenceStore.find(key))?.tag ?? null);
  await replace(JSON.stringify({ name: lost.closed[0], kept: { jws: 'damaged' } }));
  const { code, text } = await svcAdmin(restored.url, fence.env, 'restore', '--apply', '--log', log);
  expect([code, text]).toEqual([expect.any(Number), expect.stringContaining("is not the service's")]);
  expect(code).not.toBe(0);
  await replace(whole);
};

beforeAll(async () => {
  cluster = await startArchivedCluster();
  await moveClockOf(cluster.url);
  before = await withNodes(cluster.url, async ([node]) => {
    const tenants = await createTenants(node?.baseUrl ?? '', {
      proof_window_seconds: 300,
      profile: 'svc-base-v2',
    });
    await cluster.takeBaseBackup();
    const grants = await issueMany(tenants, 2 * EACH);
    const baseUrl = node?.baseUrl ?? '';
    const known = await issueGrant(tenants);
    const [pausedAtLast, resumedAtLast] = [await issueGrant(tenants), await issueGrant(tenants)];
    const budget = await issueBudget(tenants, totalOf(200));
    const bodies = await Promise.all(
      [known, pausedAtLast, resumedAtLast].map((grant) => verifyBody(tenants, grant)),
    );
    for (const body of [...bodies, await bodyFor(tenants, budget, buy(100))])
      expect(receiptOf(await verify(baseUrl, tenants, body)).decision).toBe('ALLOW');
    await insertHosted(await connect(cluster.url));
    const holders = await createHolders(baseUrl, cluster.url, await connect(cluster.url));
    return { tenants, grants, known, pausedAtLast, resumedAtLast, budget, holders };
  });
  await cluster.markPoint('before');
  lost = await promiseAndLose();
  restored = await cluster.restoreTo('before');
}, 240_000);

afterEach(() => vi.useRealTimers());
afterAll(async () => {
  await Promise.all(sessions.map((session) => session.end()));
  await restored?.stop();
  await cluster?.stop();
});

describe('a restored backup', () => {
  it('is detected: decisions, other writes and reads are 503, and /readyz says why', async () => {
    await withNodes(restored.url, async (nodes) => {
      for (const node of nodes) {
        const { status, checks } = await readiness(node);
        expect([status, checks.fence]).toEqual([503, expect.stringContaining('svc-admin restore')]);
      }
      const [node] = nodes;
      const baseUrl = node?.baseUrl ?? '';
      const { tenants } = before;
      for (const body of lost.spent)
        expect((await call(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body })).status).toBe(503);
      const revoked = await verifyBody(tenants, lost.logOnly);
      expect((await call(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body: revoked })).status).toBe(
        503,
      );
      const others: [string, string, unknown, string][] = [
        ['POST', '/grants', { agent: tenants.agent.did }, tenants.principalKey],
        ['POST', '/revoke', { grant_id: lost.logOnly.grantId }, tenants.principalKey],
        ['POST', '/orgs', { slug: lost.slug, name: 'Other' }, ADMIN_TOKEN],
        ['POST', '/checkpoints/close', undefined, ADMIN_TOKEN],
        ['GET', `/decisions/${lost.receipts[0]}`, undefined, tenants.rpKey],
        ['GET', `/status-lists/${lost.entries[0]?.split('/status-lists/')[1]?.split('#')[0]}`, undefined, ''],
      ];
      for (const [method, path, body, key] of others)
        expect([
          path,
          (await call(baseUrl, method, path, { ...(key && { key }), ...(body !== undefined && { body }) }))
            .status,
        ]).toEqual([path, 503]);
      expect((await call(baseUrl, 'GET', '/.well-known/did.json')).status).toBe(200);
    });
  }, 60_000);

  it('without a fence allows revoked Grants and spent Proofs, so the other tests can fail', async () => {
    const copy = await createDatabase(restored.adminUrl, restored.url);
    const given = await svcAdmin(copy.url, {}, 'fence', 'give-up', '--database-is-the-latest');
    expect(given.code).toBe(0);
    const api = await startApiNodes(1, copy.url, { SVC_FENCE: 'none' });
    try {
      const baseUrl = api.processes[0]?.baseUrl ?? '';
      const { tenants } = before;
      const late = await verifyBody(tenants, lost.revoked[0] as HeldGrant);
      expect(receiptOf(await verify(baseUrl, tenants, late)).decision).toBe('ALLOW');
      const second = await Promise.all(lost.spent.map((body) => verify(baseUrl, tenants, body)));
      expect(second.map((answer) => receiptOf(answer).decision)).toContain('ALLOW');
    } finally {
      await api.stop();
      await copy.drop();
    }
  }, 60_000);

  it('is corrected by svc-admin restore: lost revocations and spent Proofs are denied, nothing is allocated twice, and a statement is published', async () => {
    const log = join(fence.folder, 'api.log');
    writeFileSync(log, lost.log.join(''));
    const looked = await svcAdmin(restored.url, fence.env, 'restore', '--log', log);
    expect(looked).toMatchObject({ code: 1, text: expect.stringContaining('Nothing was changed') });
    await cutOff(log);
    const applied = await svcAdmin(restored.url, fence.env, 'restore', '--apply', '--log', log);
    expect(applied.text).toContain(`revoked again   ${EACH} Grants`);
    // Grants that are not revoked and were used in the lost span, or may have been.
    expect(applied.text).toContain(`withheld        ${EACH + 1} Grants`);
    for (const { grantId } of [...before.grants.slice(EACH), before.budget])
      expect(applied.text).toContain(grantId);
    expect(applied.text).not.toContain(before.known.grantId);
    expect(applied.code).toBe(0);
    expect(lost.closed.length).toBeGreaterThan(0);
    expect(applied.text).toContain(`the checkpoints of ${lost.closed.join(', ')}`);
    expect(await svcAdmin(restored.url, fence.env, 'restore')).toMatchObject({ code: 0 });
    // The database's functions use the clock that this test moves, which fsck reports.
    const found = JSON.parse((await svcAdmin(restored.url, fence.env, 'fsck', '--json')).text).checks;
    const faulty = found.filter(({ faults }: { faults: number }) => faults > 0);
    expect(faulty.map(({ name }: { name: string }) => name)).toEqual(['schema']);
    expect(await describeTaken(restored.url, before.holders)).toEqual({
      ...{
        holders: ['later', 'later'],
        window: [60],
        released: [],
        reserved: ['did:web:claimed-anew.example'],
      },
      ...{
        agents: [false, false],
        keys: ['compromised', 'retired'],
        last: ['later', 'later', 'blocked'],
        liveKeys: [],
        production: ['blocked'],
      },
      ...{ serviceKey: ['compromised'], owned: ['active', true], claimDays: [7] },
    });

    const { tenants } = before;
    await withNodes(restored.url, async ([node]) => {
      const baseUrl = node?.baseUrl ?? '';
      expect(await readiness(node as never)).toMatchObject({
        status: 503,
        checks: { fence: expect.stringContaining('a restore or a repair of the clock is settling') },
      });
      for (const body of lost.spent)
        expect((await call(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body })).status).toBe(503);
    });

    // Lets the quarantine pass, by the clock of the database and of the nodes.
    const sql = await connect(restored.url);
    await sql.query('update clock.ahead set ms = $1', [QUARANTINE_MS]);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + QUARANTINE_MS });
    await withNodes(restored.url, async (nodes) => {
      const [first, second] = nodes;
      if (first === undefined || second === undefined) throw new Error('two nodes');
      await until(async () => (await readiness(first)).status === 200);
      const again = await Promise.all(lost.spent.map((body) => verify(second.baseUrl, tenants, body)));
      expect(again.map((answer) => receiptOf(answer).reason)).toEqual(Array(EACH).fill('PROOF_EXPIRED'));
      const late = await Promise.all(
        lost.revoked.map(async (grant) => verify(first.baseUrl, tenants, await verifyBody(tenants, grant))),
      );
      expect(late.map((answer) => receiptOf(answer).reason)).toEqual(Array(EACH).fill('AUTHORITY_REVOKED'));

      const decisionOn = async (grant: HeldGrant) =>
        receiptOf(await verify(first.baseUrl, tenants, await verifyBody(tenants, grant)));
      expect(await decisionOn(before.pausedAtLast)).toMatchObject({ reason: 'AUTHORITY_REVOKED' });
      expect(await decisionOn(before.resumedAtLast)).toMatchObject({ decision: 'ALLOW' });

      // A known Grant works again, and no Receipt is dated before the end of the quarantine.
      const receipt = receiptOf(
        await verify(first.baseUrl, tenants, await verifyBody(tenants, before.known)),
      );
      expect(receipt.decision).toBe('ALLOW');
      expect(receipt.receipt_id > ([...lost.receipts].sort().at(-1) ?? '')).toBe(true);

      await issueMany(tenants.at?.(first.baseUrl) ?? tenants, EACH);
      const fresh = (await indexesOf(sql)).filter((entry) => !lost.entries.includes(entry));
      expect(fresh).toHaveLength(EACH);
      const taken = await call(first.baseUrl, 'POST', '/orgs', {
        key: ADMIN_TOKEN,
        body: { slug: lost.slug, name: 'Somebody else' },
      });
      expect(taken.status).toBe(409);

      const document = await callJson<object>(first.baseUrl, 'GET', '/.well-known/did.json');
      const { restores } = await callJson<{ restores: { statement: string }[] }>(
        first.baseUrl,
        'GET',
        '/restores',
      );
      const said = verifyRestoreStatement({
        statement: restores[0]?.statement ?? '',
        serviceDidDocument: document,
      });
      expect(said).toMatchObject({ ok: true, statement: { epoch: 1, revoked_again: EACH, previous: null } });
      if (!said.ok) throw new Error(JSON.stringify(said.failures));
      const { lost_from: from, lost_until: to } = said.statement;
      for (const id of lost.receipts) {
        const at = formatTimestamp(ulidTimeMs(id.slice(4)) ?? 0);
        expect(from <= at && at <= to).toBe(true);
      }
    });
  }, 120_000);

  it('withholds Grants used in the lost span (503) until the operator releases them', async () => {
    const { tenants, grants, budget } = before;
    const sql = await connect(restored.url);
    const { rows } = await sql.query(
      `select verification_state as state, last_checked_at as checked from principals where did = $1`,
      [HOSTED],
    );
    expect(rows).toEqual([{ state: 'unverified', checked: null }]);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + QUARANTINE_MS });
    await withNodes(restored.url, async ([first]) => {
      const node = first as ApiNodes['processes'][number];
      await until(async () => (await readiness(node)).status === 200);
      const used = grants[EACH] as HeldGrant;
      const ask = async (body: unknown, path = '/verify') =>
        call(node.baseUrl, 'POST', path, { key: tenants.rpKey, body });
      const dryRun = async () => ask(await bodyFor(tenants, budget, buy(100)), '/verify/dry-run');
      expect((await ask(await verifyBody(tenants, used))).status).toBe(503);
      expect((await ask(await bodyFor(tenants, budget, buy(100)))).status).toBe(503);
      expect((await dryRun()).status).toBe(503);

      const held = await svcAdmin(restored.url, fence.env, 'restore', 'withheld');
      expect([held.code, held.text.split('\n').filter((line) => line.startsWith('urn:')).length]).toEqual([
        1,
        EACH + 4,
      ]);
      // Allowed before by a capability without a budget; it could have drawn on the budget of another one for the first
      // time.
      expect(held.text).toContain(
        `${before.known.grantId}  ${tenants.principalDid}  allowed here, drew on no budget`,
      );
      const release = (...which: string[]) =>
        svcAdmin(restored.url, fence.env, 'restore', 'release', ...which);
      expect(await release()).toMatchObject({ code: 2 });
      expect(await release('--grant', 'urn:svc:grant:other', '--grant', used.grantId)).toEqual({
        code: 1,
        text: expect.stringMatching(
          /^1 Grant is released\.\nurn:svc:grant:other is not withheld\.\nsvc-admin restore withheld lists/m,
        ),
      });
      expect(await release('--principal', 'did:web:nobody.test')).toMatchObject({
        code: 1,
        text: expect.stringContaining('No Grant of did:web:nobody.test is withheld.'),
      });
      expect(receiptOf(await ask(await verifyBody(tenants, used))).decision).toBe('ALLOW');
      expect((await ask(await bodyFor(tenants, budget, buy(100)))).status).toBe(503);
      expect(await release('--principal', tenants.principalDid)).toMatchObject({ code: 0 });
      expect((await dryRun()).status).toBe(200);
      expect(receiptOf(await ask(await bodyFor(tenants, budget, buy(100)))).decision).toBe('ALLOW');
      expect(await svcAdmin(restored.url, fence.env, 'restore', 'withheld')).toMatchObject({ code: 0 });
      const audited = await sql.query(
        `select target from audit_events where action = 'restore.release' order by event_id`,
      );
      expect(audited.rows).toEqual([{ target: used.grantId }, { target: tenants.principalDid }]);
    });
  }, 120_000);

  it('makes nodes on the former database refuse decisions with 503', async () => {
    await withNodes(cluster.url, async ([node]) => {
      expect((await readiness(node as never)).checks.fence).toContain('replaced');
      const body = await verifyBody(before.tenants, before.grants[EACH] as HeldGrant);
      const { status } = await call(node?.baseUrl ?? '', 'POST', '/verify', {
        key: before.tenants.rpKey,
        body,
      });
      expect(status).toBe(503);
    });
  }, 60_000);
});
