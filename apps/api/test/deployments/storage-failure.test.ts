/**
 * Storage that stops, dies or loses an answer (protocol §10): each call is answered within two seconds, with 503 or
 * 200, never with an ALLOW that is not stored; after the return of storage calls are answered 200 again without a
 * restart. The suite has a durable PostgreSQL of its own.
 */
import { type OwnCluster, SERVICE_ROLE, startOwnCluster } from '@svc/testkit';
import { isDeep } from '@svc/testkit/sampled';
import { type CuttingProxy, startCuttingProxy } from '@svc/testkit/store/cutting-proxy';
import { endSessions, runSql } from '@svc/testkit/store/session';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiProcesses, startApiProcesses } from '../world/api-process.ts';
import { PROVISION_KEY, requestOf, SELF_SERVE_ENV } from '../world/self-serve.ts';
import {
  type Answer,
  call,
  createTenants,
  type HeldGrant,
  issueGrant,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const WITHIN_MS = 2_000;
/** Matches a commit with Receipts; a new session begins with an empty one. */
const COMMIT = ['svc_commit_decisions', 'drc_'];

let cluster: OwnCluster;
let proxy: CuttingProxy;
let api: ApiProcesses;
let tenants: Tenants;
let grant: HeldGrant;

beforeAll(async () => {
  cluster = await startOwnCluster({ durable: true });
  proxy = await startCuttingProxy(cluster.url, ...COMMIT);
  api = await startApiProcesses(1, proxy.url, SELF_SERVE_ENV);
  tenants = await createTenants(baseUrl());
  grant = await issueGrant(tenants);
}, 60_000);
afterAll(async () => {
  await api?.stop();
  await proxy?.close();
  await cluster?.stop();
}, 60_000);
beforeEach(() => proxy.setMode('pass'));

const baseUrl = () => api.processes[0]?.baseUrl ?? '';

interface Timed {
  readonly answer: Answer;
  readonly elapsedMs: number;
}

const send = async (body: unknown, headers: Record<string, string> = {}): Promise<Timed> => {
  const startedAtMs = performance.now();
  const answer = await call(baseUrl(), 'POST', '/verify', { key: tenants.rpKey, body, headers });
  return { answer, elapsedMs: performance.now() - startedAtMs };
};

const sendFresh = async (): Promise<Timed> => send(await verifyBody(tenants, grant));

/** Repeats until a decision is made. The time until then depends on the machine; the time of an answer does not. */
const recover = async (): Promise<void> => {
  const startedAtMs = performance.now();
  for (;;) {
    const { answer, elapsedMs } = await sendFresh();
    if (answer.status === 200) return expect(elapsedMs).toBeLessThan(WITHIN_MS);
    if (performance.now() - startedAtMs > 20_000) throw new Error(`no recovery: ${answer.text}`);
  }
};

/** The ids that have no stored Receipt. */
const missingFrom = async (receiptIds: readonly string[]): Promise<string[]> => {
  const rows = await runSql<{ id: string }>(
    cluster.url,
    'select receipt_id as id from receipts where receipt_id = any ($1)',
    [receiptIds],
  );
  const stored = new Set(rows.map(({ id }) => id));
  return receiptIds.filter((id) => !stored.has(id));
};

const expectUnavailable = ({ answer, elapsedMs }: Timed): void => {
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.text)).toMatchObject({ error: 'SERVICE_UNAVAILABLE' });
  expect(answer.text).not.toContain('decision');
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(elapsedMs).toBeLessThan(WITHIN_MS);
};

it('a node opens its 22 database sessions before the first request and reopens lost ones, with at most 10 log lines', async () => {
  /** Sessions that the pools keep: reads 6, revocations 9, commits 3, look-ups 2, the fence 2. */
  const KEPT = 22;
  const sessions = async () =>
    (
      await runSql<{ pid: number }>(cluster.url, 'select pid from pg_stat_activity where usename = $1', [
        SERVICE_ROLE,
      ])
    ).map(({ pid }) => pid);
  await expect.poll(async () => (await sessions()).length).toBeGreaterThanOrEqual(KEPT);
  const before = new Set(await sessions());
  // Ends all sessions at once.
  await runSql(
    cluster.adminUrl,
    'select pg_terminate_backend(pid) from pg_stat_activity where usename = $1',
    [SERVICE_ROLE],
  );
  await expect
    .poll(async () => (await sessions()).filter((pid) => !before.has(pid)).length)
    .toBeGreaterThanOrEqual(KEPT);
  const told = api.processes.flatMap(({ log }) => log.filter((line) => line.includes('"msg":"storage"')));
  // At most five lines a second, and the sessions were lost within one or two seconds.
  expect(told.length).toBeGreaterThan(0);
  expect(told.length).toBeLessThanOrEqual(10);
});

describe('a database connection that is cut around the commit', () => {
  it('before the commit reaches storage gives 503, and the Proof is still allowed', async () => {
    expect((await sendFresh()).answer.status).toBe(200);
    const body = await verifyBody(tenants, grant);
    proxy.setMode('cut-before');
    const cutsBefore = proxy.cuts;
    expectUnavailable(await send(body));
    expect(proxy.cuts).toBe(cutsBefore + 1);
    await recover();
    expect(receiptOf((await send(body)).answer).decision).toBe('ALLOW');
  });

  it('gives 503 for AuthZEN too: a batch ends at the failed item, and every Proof is still allowed', async () => {
    expect((await sendFresh()).answer.status).toBe(200);
    const bodies = await Promise.all([1, 2, 3].map(() => verifyBody(tenants, grant)));
    const [single, ...evaluations] = bodies.map(({ grant: presented, proof, action }) => ({
      subject: { type: 'agent', id: tenants.agent.did, properties: { grant: presented, proof } },
      action: { name: action.type, properties: { amount: action.amount, currency: action.currency } },
      resource: { type: 'order', id: action.resource },
    }));
    const ask = (path: string, body: unknown) =>
      call(baseUrl(), 'POST', `/access/v1/${path}`, {
        key: tenants.rpKey,
        body,
        headers: { 'content-type': 'application/json' },
      });
    proxy.setMode('cut-before');
    const { status, text } = await ask('evaluation', single);
    expect([status, JSON.parse(text)]).toMatchObject([503, { error: 'SERVICE_UNAVAILABLE' }]);
    await recover();
    proxy.setMode('cut-before');
    const options = { evaluations_semantic: 'permit_on_first_permit' };
    const batch = await ask('evaluations', { evaluations, options });
    const refused = { decision: false, context: { error: { status: 503, message: expect.any(String) } } };
    expect([batch.status, JSON.parse(batch.text)]).toEqual([200, { evaluations: [refused] }]);
    await recover();
    for (const body of bodies) expect(receiptOf((await send(body)).answer).decision).toBe('ALLOW');
  });

  it('after the commit gives the stored decision in time', async () => {
    expect((await sendFresh()).answer.status).toBe(200);
    const body = await verifyBody(tenants, grant);
    proxy.setMode('cut-after');
    const cutsBefore = proxy.cuts;
    const { answer, elapsedMs } = await send(body);
    expect(proxy.cuts).toBe(cutsBefore + 1);
    const receipt = receiptOf(answer);
    expect(receipt.decision).toBe('ALLOW');
    expect(elapsedMs).toBeLessThan(WITHIN_MS);
    expect(await missingFrom([receipt.receipt_id])).toEqual([]);
    expect(receiptOf((await send(body)).answer).reason).toBe('PROOF_REPLAYED');
  });

  it('after the commit, with storage unreachable, gives 503; a retry with the same Idempotency-Key returns the stored decision', async () => {
    expect((await sendFresh()).answer.status).toBe(200);
    const body = await verifyBody(tenants, grant);
    const headers = { 'idempotency-key': 'lost-answer-1' };
    proxy.setMode('cut-after-and-block');
    // The look-up of the key passes; only the commit is cut.
    expectUnavailable(await send(body, headers));
    proxy.setMode('pass');
    await recover();
    const again = await send(body, headers);
    expect(receiptOf(again.answer).decision).toBe('ALLOW');
    expect(again.answer.headers['svc-idempotent-replay']).toBe('true');
    expect(receiptOf((await send(body)).answer).reason).toBe('PROOF_REPLAYED');
  });
});

describe('with a synchronous standby that does not answer', () => {
  const setStandby = async (name: string) => {
    await runSql(cluster.adminUrl, `alter system set synchronous_standby_names = '${name}'`);
    await runSql(cluster.adminUrl, 'select pg_reload_conf()');
  };

  it('a verification is 503, and so is its retry until the decision is replicated', async () => {
    await recover();
    const body = await verifyBody(tenants, grant);
    const headers = { 'idempotency-key': 'no-standby-1' };
    await setStandby('nobody');
    try {
      expectUnavailable(await send(body, headers));
      // Ends the session that waits: what it committed becomes visible, but only on this server.
      const waiting = `select pid from pg_stat_activity where wait_event = 'SyncRep'`;
      await expect.poll(() => endSessions(cluster.adminUrl, waiting), { timeout: 20_000 }).toBeGreaterThan(0);
      expectUnavailable(await send(body, headers));
    } finally {
      await setStandby('');
    }
    await recover();
    const { answer } = await send(body, headers);
    expect(receiptOf(answer).decision).toBe('ALLOW');
    expect(answer.headers['svc-idempotent-replay']).toBe('true');
  }, 60_000);

  // In a sample the verification above shows that a session which waits for the standby is no answer.
  it.runIf(isDeep)(
    'a sign-up is 503 although its org is already visible',
    async () => {
      await recover();
      const signUp = requestOf();
      const key = PROVISION_KEY;
      await setStandby('nobody');
      try {
        const answer = call(baseUrl(), 'POST', '/orgs/self-serve', { key, body: signUp });
        /** Cancels the wait of a session: what it committed becomes visible, but only on this server. */
        const cancelAndLook = async () => {
          const waiting = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`;
          await runSql(cluster.adminUrl, waiting);
          return runSql(cluster.url, 'select from orgs where slug = $1', [signUp.slug]);
        };
        await expect.poll(cancelAndLook, { timeout: 20_000 }).toHaveLength(1);
        expect((await answer).status).toBe(503);
      } finally {
        await setStandby('');
      }
    },
    60_000,
  );
});

describe('a PostgreSQL server', () => {
  it.runIf(isDeep)(
    'stopped with SIGSTOP causes 503 within two seconds, and decisions resume after SIGCONT',
    async () => {
      await recover();
      cluster.signal('SIGSTOP');
      try {
        const answers = await Promise.all(Array.from({ length: 16 }, sendFresh));
        for (const answer of answers) expectUnavailable(answer);
        if (isDeep) expectUnavailable(await sendFresh());
        expect((await call(baseUrl(), 'GET', '/healthz')).status).toBe(503);
        const beganAtMs = performance.now();
        const onAdminPort = (path: string) => fetch(`${api.processes[0]?.adminUrl}${path}`);
        const [ready, metrics] = await Promise.all([onAdminPort('/readyz'), onAdminPort('/metrics')]);
        expect([ready.status, metrics.status]).toEqual([503, 200]);
        expect(performance.now() - beganAtMs).toBeLessThan(5_000);
      } finally {
        cluster.signal('SIGCONT');
      }
      await recover();
      // The result found during the standstill is answered for another half second.
      const health = async () => (await call(baseUrl(), 'GET', '/healthz')).status;
      await expect.poll(health).toBe(200);
    },
    60_000,
  );

  it('killed under load loses no answered ALLOW, causes 503 within two seconds, and decisions resume after its restart', async () => {
    const allowed: string[] = [];
    const statuses = new Set<number>();
    let stop = false;
    const load = Array.from({ length: 8 }, async () => {
      while (!stop) {
        const { answer } = await sendFresh();
        statuses.add(answer.status);
        if (answer.status === 200) allowed.push(receiptOf(answer).receipt_id);
      }
    });
    while (allowed.length < 100) await sendFresh();
    cluster.signal('SIGKILL');
    const down = await sendFresh();
    stop = true;
    await Promise.all(load);
    expectUnavailable(down);
    await cluster.restart();
    await recover();
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(await missingFrom(allowed)).toEqual([]);
  }, 60_000);

  it('stopped with SIGSTOP does not affect status lists and DID documents: they are still served, with an Age header', async () => {
    await recover();
    const [, claims = ''] = grant.grant.split('.');
    const { credentialStatus } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    const paths = [
      new URL([credentialStatus].flat()[0].statusListCredential).pathname,
      `/org/${tenants.principalDid.split(':').at(-1)}/did.json`,
    ];
    const get = (path: string) => call(baseUrl(), 'GET', path);
    const before = await Promise.all(paths.map(get));
    cluster.signal('SIGSTOP');
    try {
      const after = await Promise.all(paths.map(get));
      for (const [i, answer] of after.entries()) {
        expect([answer.status, answer.text]).toEqual([200, before[i]?.text]);
        expect(answer.headers.age).toMatch(/^\d+$/);
      }
    } finally {
      cluster.signal('SIGCONT');
    }
  }, 60_000);

  it('unreachable from the start of a request causes 503 for /verify and /me, and the Proof is not spent', async () => {
    await recover();
    const body = await verifyBody(tenants, grant);
    proxy.setMode('block');
    cluster.signal('SIGKILL');
    expectUnavailable(await send(body));
    const me = await call(baseUrl(), 'GET', '/me', { key: tenants.principalKey });
    expect(me.status).toBe(503);
    proxy.setMode('pass');
    await cluster.restart();
    await recover();
    expect(receiptOf((await send(body)).answer).decision).toBe('ALLOW');
  }, 60_000);
});
