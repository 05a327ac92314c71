/**
 * A server whose commits must wait for a standby that does not answer. Commits whose callers give up, or are cut off,
 * are visible and would be lost with the machine. No answer that depends on them is given.
 */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { encodeUlid, type ReceiptId } from '@svc/protocol';
import {
  type ApprovalDecision,
  type ApprovalRecord,
  addMember,
  type Caller,
  cancelApproval,
  type GrantRecord,
  type RpCaller,
  rejectApproval,
  requestApproval,
  type Store,
  SYSTEM,
  settle,
} from '@svc/service';
import { type OwnCluster, startOwnCluster } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { endSessions, runSql, untilRow, withSession } from '@svc/testkit/store/session';
import {
  allowCommit,
  createWorld,
  hashOf,
  insertGrant,
  insertOrg,
  insertPrincipal,
  newAgent,
  newGrantId,
  type World,
} from '@svc/testkit/store/world';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { clientConfig, StoreClient } from './client.ts';
import { createStore } from './create-store.ts';

/** Long limits for opening connections; statements on them have their usual time. */
const OPENED = { connectMs: 20_000, patientConnectMs: 20_000, waitMs: 20_000, transactionWaitMs: 20_000 };

let cluster: OwnCluster;
let store: Store;
let world: World;

beforeAll(async () => {
  cluster = await startOwnCluster({ durable: false });
  // Settings that an operator might have chosen to gain speed.
  await setSystem('synchronous_commit', 'off');
  store = createStore({ databaseUrl: cluster.url, deadlines: OPENED });
  world = await createWorld(store);
}, 60_000);
afterAll(async () => {
  await setStandby('');
  await store.close();
  await cluster.stop();
});

const setSystem = async (name: string, value: string) => {
  await runSql(cluster.adminUrl, `alter system set ${name} = '${value}'`);
  await runSql(cluster.adminUrl, 'select pg_reload_conf()');
  await withSession(cluster.adminUrl, (session) =>
    untilRow(
      session,
      `select 1 from pg_file_settings where name = '${name}' and setting = '${value}' and applied`,
    ),
  );
};
/** Makes commits wait for this standby, which does not exist. */
const setStandby = (name: string) => setSystem('synchronous_standby_names', name);

/** Ends the sessions that wait for the standby: their commits become visible. */
const cutOffWaiting = () =>
  withSession(cluster.adminUrl, async (session) => {
    await untilRow(session, `select 1 from pg_stat_activity where wait_event = 'SyncRep'`);
    await endSessions(cluster.adminUrl, `select pid from pg_stat_activity where wait_event = 'SyncRep'`);
  });

/** Number of the server's sessions that wait for the standby. */
const countWaiting = () =>
  withSession(cluster.adminUrl, async (session) => {
    const { rows } = await session.query<{ count: number }>(
      `select count(*)::int from pg_stat_activity where wait_event = 'SyncRep'`,
    );
    return rows[0]?.count ?? 0;
  });

/** Size of the pool for commits, and a greater number of commits. */
const COMMITS = 3;
const GIVEN_UP = 6;

const key = { key: 'twice', bodyHash: 'x' };

describe('while the standby does not answer', () => {
  it('a visible Receipt is not reported as stored, by id or by idempotency key, until the standby has it', async () => {
    const grant = await insertGrant(world);
    const decision = allowCommit(world, grant, { idempotency: key });
    await setStandby('nobody');
    const lost = expect(store.verify.commitDecisions([decision])).rejects.toMatchObject({
      kind: 'ambiguous',
    });
    await cutOffWaiting();
    await lost;
    const visible = await store.verify.findIdempotent(world.relyingParty.did, key.key);
    expect(visible?.receipt.receiptId).toBe(decision.receiptId);
    await expect(store.verify.findStored([decision.receiptId])).rejects.toMatchObject({
      kind: 'unavailable',
    });
    await expect(store.verify.confirmStored()).rejects.toMatchObject({ kind: 'unavailable' });
    await setStandby('');
    await store.verify.confirmStored();
    expect(await store.verify.findStored([decision.receiptId])).toEqual(new Set([decision.receiptId]));
  });

  it.each(['warning', 'error'])(
    'a commit whose wait was cancelled is ambiguous, also for a role that sees no message below %s',
    async (level) => {
      const [role] = await runSql<{ name: string }>(cluster.url, 'select quote_ident(current_user) as name');
      await runSql(cluster.adminUrl, `alter role ${role?.name} set client_min_messages = ${level}`);
      onTestFinished(() =>
        runSql(cluster.adminUrl, `alter role ${role?.name} reset client_min_messages`).then(() => {}),
      );
      const store = createStore({ databaseUrl: cluster.url, deadlines: OPENED });
      onTestFinished(() => store.close());
      const decision = allowCommit(world, await insertGrant(world));
      await setStandby('nobody');
      const lost = expect(store.verify.commitDecisions([decision])).rejects.toMatchObject({
        kind: 'ambiguous',
      });
      await withSession(cluster.adminUrl, async (session) => {
        await untilRow(session, `select 1 from pg_stat_activity where wait_event = 'SyncRep'`);
        await session.query(
          `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`,
        );
      });
      await lost;
      await setStandby('');
    },
  );

  it('commits whose callers give up leave at most as many waiting sessions as the pool has, and these end with the wait', async () => {
    const grants: GrantRecord[] = [];
    while (grants.length <= GIVEN_UP) grants.push(await insertGrant(world));
    const [last, ...givenUp] = grants as [GrantRecord, ...GrantRecord[]];
    // Here the wait for a place has its usual limit, and all connections are open before.
    const own = createStore({ databaseUrl: cluster.url, opensAhead: true });
    onTestFinished(() => own.close());
    const places = () => own.describePools().find(({ pool }) => pool === 'commits');
    await expect.poll(places).toMatchObject({ busy: 0, idle: COMMITS });
    await setStandby('nobody');
    const atOnce = sampled({ quick: COMMITS, deep: 1 });
    for (let from = 0; from < givenUp.length; from += atOnce)
      await Promise.all(
        givenUp.slice(from, from + atOnce).map((grant) =>
          expect(own.verify.commitDecisions([allowCommit(world, grant)])).rejects.toMatchObject({
            kind: expect.stringMatching('ambiguous|unavailable'),
          }),
        ),
      );
    expect(await countWaiting()).toBe(COMMITS);
    await setStandby('');
    await withSession(cluster.adminUrl, (session) =>
      untilRow(
        session,
        `select 1 where not exists (select from pg_stat_activity where wait_event = 'SyncRep')`,
      ),
    );
    // Their places become free soon.
    const isStored = () =>
      own.verify.commitDecisions([allowCommit(world, last)]).then(
        ([outcome]) => outcome === 'STORED',
        () => false,
      );
    while (!(await isStored()));
  });

  const ACTION = { type: 'commerce:purchase', resource: 'order/7', amount: 900, currency: 'USD' } as const;
  const stored = async (decision: ApprovalDecision | null): Promise<ApprovalRecord> => {
    const receiptId = `drc_${encodeUlid(Date.now(), randomBytes(10))}` as ReceiptId;
    const request = await store.approvals.insert({
      requestId: `arq_${encodeUlid(Date.now(), randomBytes(10))}`,
      ...{ relyingParty: world.relyingParty.did, principal: world.principal.did },
      ...{ grantId: newGrantId(), agent: newAgent(), action: ACTION, actionHash: hashOf(receiptId) },
      ...{ expiresInSeconds: 900, receiptId, proof: 'a.b.c' },
    });
    await store.approvals.addReceipt(request.requestId, receiptId, 100);
    if (decision !== null) await store.approvals.decide(request.requestId, decision);
    return request;
  };
  const DENIED = { state: 'denied', reason: null } as const;
  const CANCELLED = { state: 'cancelled' } as const;
  const depsOf = (own: Store) =>
    ({ store: own, clock: { nowMs: Date.now }, random: { bytes: randomBytes } }) as never;
  const principal = () => ({ class: 'principal', subject: world.principal.did }) as Caller;
  const relyingParty = () => ({ class: 'rp', subject: world.relyingParty.did }) as RpCaller;
  const repeating =
    (
      decision: ApprovalDecision | null,
      repeat: (request: ApprovalRecord, deps: never) => Promise<ApprovalRecord>,
    ) =>
    async (own: Store) => {
      const request = await stored(decision);
      return () => repeat(request, depsOf(own));
    };
  const artifact = { hash: hashOf('x'), contentType: 'text/plain', body: Buffer.from('x') };

  /**
   * What is prepared while the standby answers and called while it does not, and the result (`once`) when it answers
   * again.
   */
  const asked: [what: string, prepare: (own: Store) => Promise<() => Promise<unknown>>, once?: object][] = [
    [
      'a transaction that changes nothing is ambiguous',
      async (own) => () => own.transaction((tx) => tx.principals.find(world.principal.did)),
      {},
    ],
    [
      'a repeated rejection of an approval request is ambiguous',
      repeating(DENIED, ({ requestId: id, principal: did }, deps) =>
        rejectApproval(deps, principal(), { did, id, requestId: 'req_2' }, null),
      ),
      { state: 'denied' },
    ],
    [
      'a repeated cancellation of an approval request is ambiguous',
      repeating(CANCELLED, ({ requestId }, deps) => cancelApproval(deps, relyingParty(), requestId, 'req_2')),
      { state: 'cancelled' },
    ],
    [
      'a decision on an approval request that is settled already is ambiguous',
      repeating(DENIED, (request, deps) => settle(deps, SYSTEM, request, DENIED, 'req_2')),
      { state: 'denied' },
    ],
    [
      'a repeated request for approval is ambiguous',
      repeating(null, ({ receiptId, proof }, deps) =>
        requestApproval(deps, relyingParty(), {
          ...{ receiptId: receiptId as ReceiptId, proof: proof ?? '' },
          ...{ expiresInSeconds: 900, requestId: 'req_2' },
        }),
      ),
      { state: 'pending' },
    ],
    [
      'a repeated addition of a member to its org is ambiguous',
      async (own) => {
        const orgId = await insertOrg(store);
        const { did } = await insertPrincipal(store);
        await store.principals.setOrg(did, orgId);
        const operator = { class: 'admin' } as Caller;
        return async () => ({ kind: await addMember(depsOf(own), operator, orgId, { did }) });
      },
      { kind: 'principal' },
    ],
    [
      'a write is ambiguous, although the server is configured with synchronous_commit = off',
      async (own) => () => own.transaction((tx) => tx.evidence.insert(artifact)),
    ],
  ];
  const answers = new Map<string, { readonly meanwhile: object | undefined; readonly once: unknown }>();
  // All calls run at once, each on a node of its own, because each takes its whole deadline.
  beforeAll(async () => {
    const nodes = asked.map(() => createStore({ databaseUrl: cluster.url, deadlines: OPENED }));
    const asking: (readonly [string, () => Promise<unknown>])[] = [];
    for (const [i, [what, prepare]] of asked.entries()) asking.push([what, await prepare(nodes[i] as Store)]);
    await setStandby('nobody');
    const settled = await Promise.allSettled(asking.map(([, ask]) => ask()));
    await setStandby('');
    for (const [i, [what, ask]] of asking.entries())
      answers.set(what, { meanwhile: settled[i], once: await ask() });
    await Promise.all(nodes.map((node) => node.close()));
  }, 60_000);

  it.each(asked.map(([what, , once]) => [what, once] as const))('%s', (what, once) => {
    const found = answers.get(what);
    expect(found?.meanwhile).toMatchObject({ status: 'rejected', reason: { kind: 'ambiguous' } });
    if (once !== undefined) expect(found?.once).toMatchObject(once);
  });
});

it.each(['off', 'local', 'remote_write', 'remote_apply'])(
  'a session of a role with synchronous_commit = %s waits for the local disk or the standby',
  async (configured) => {
    const role = new URL(cluster.url).username;
    await runSql(cluster.adminUrl, `alter role ${role} set synchronous_commit = '${configured}'`);
    const client = new StoreClient(clientConfig(cluster.url, 1_000));
    try {
      await client.connect();
      const { rows } = await client.query('show synchronous_commit');
      expect(rows).toEqual([{ synchronous_commit: configured.startsWith('remote') ? configured : 'on' }]);
    } finally {
      client.destroy();
      await runSql(cluster.adminUrl, `alter role ${role} reset synchronous_commit`);
    }
  },
);

/**
 * Receives the log as a standby does, and reports at once that it has everything that will ever come (PostgreSQL,
 * Streaming Replication Protocol: START_REPLICATION, Standby status update).
 */
const attachStandby = async (name: string): Promise<() => void> => {
  const config: pg.ClientConfig = { connectionString: cluster.adminUrl, application_name: name };
  const standby = new pg.Client(Object.assign(config, { replication: 'true' }));
  standby.on('error', () => {});
  await standby.connect();
  const [{ xlogpos } = { xlogpos: '' }] = (await standby.query<{ xlogpos: string }>('IDENTIFY_SYSTEM')).rows;
  const { connection } = standby as unknown as {
    connection: { stream: Socket; on(event: string, heard: () => void): void };
  };
  connection.on('replicationStart', () => {
    const update = Buffer.alloc(5 + 34);
    update.write('d');
    update.writeInt32BE(38, 1);
    update.write('r', 5);
    for (const at of [6, 14, 22]) update.writeBigInt64BE(2n ** 62n, at);
    connection.stream.write(update);
  });
  standby.query(`START_REPLICATION PHYSICAL ${xlogpos}`).catch(() => {});
  return () => connection.stream.destroy();
};

it('describeStandby reports an empty setting, a missing or asynchronous standby, and ok, as far as the role can see', async () => {
  const role = 'service';
  await runSql(cluster.adminUrl, `create role ${role} login password 'p'`);
  const own = Object.assign(new URL(cluster.url), { username: role, password: 'p' }).href;
  const ofRole = createStore({ databaseUrl: own, poolSizes: { reads: 1, urgent: 1, barriers: 1 } });
  const detaching: (() => void)[] = [];
  try {
    const told = async () => Promise.all([store.describeStandby(), ofRole.describeStandby()]);
    const said = (text: RegExp) => expect.stringMatching(text);
    expect(await told()).toEqual([said(/is empty/), said(/is empty/)]);
    await setStandby('one');
    expect(await told()).toEqual([said(/no standby is connected/), said(/no standby is connected/)]);
    // A standby that commits do not wait for. A role that may not see this takes it for one that they wait for.
    detaching.push(await attachStandby('other'));
    await expect.poll(told).toEqual([said(/none .* is synchronous/), 'ok']);
    detaching.push(await attachStandby('one'));
    await expect.poll(told).toEqual(['ok', 'ok']);
  } finally {
    for (const detach of detaching) detach();
    await setStandby('');
    await ofRole.close();
  }
});
