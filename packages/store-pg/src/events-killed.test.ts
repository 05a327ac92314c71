/**
 * Servers killed (SIGKILL to a session, after which all sessions end and the server recovers) while decisions are
 * committed, Grants paused and revoked, events moved into the log, and verifiers told of revocations. Each stored
 * decision, pause, end of a pause and revocation has its event, and each event its fact, exactly once. Uses a server of
 * its own.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type DecisionCommit,
  type GrantRecord,
  ServiceError,
  type Store,
  StoreError,
  VerifierTurns,
} from '@svc/service';
import { type OwnCluster, startOwnCluster } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { insertSubscription, sequenceAll } from '@svc/testkit/store/events';
import { changePause } from '@svc/testkit/store/pause-races';
import { alterFunction, killSession, runSql } from '@svc/testkit/store/session';
import { allowCommit, createWorld, denyCommit, insertGrant, type World } from '@svc/testkit/store/world';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createStore } from './create-store.ts';

const KILLS = sampled({ quick: 5, deep: 1_000 });
const WRITERS = 3;
const BATCH = 4;
/** Long limits: the silence of a killed server must be noticed, not a time-out of ours. */
const PATIENT = { commitMs: 20_000, transactionMs: 20_000, connectMs: 5_000, waitMs: 20_000 };

let cluster: OwnCluster;
let store: Store;
let world: World;
let grants: readonly GrantRecord[];
/** Pauses and revocations are those of another Principal, so they make no decision stale. */
let other: World;

beforeAll(async () => {
  cluster = await startOwnCluster({ durable: false });
  store = createStore({ databaseUrl: cluster.url, deadlines: PATIENT });
  world = await createWorld(store);
  grants = await Promise.all(Array.from({ length: 3 }, () => insertGrant(world)));
  for (const audience of [`rp ${world.relyingParty.did}`, `principal ${world.principal.did}`] as const)
    await insertSubscription(store, audience, ['decision.allow', 'decision.deny']);
  other = await createWorld(store);
  await insertSubscription(store, `principal ${other.principal.did}`, ['grant.revoked', 'pause.changed']);
  await insertSubscription(store, `rp ${other.relyingParty.did}`, ['grant.revoked']);
}, 60_000);
afterAll(async () => {
  await store?.close();
  await cluster?.stop();
}, 60_000);

const newBatch = (): DecisionCommit[] =>
  Array.from({ length: BATCH }, (_, i) => {
    const grant = grants[randomInt(grants.length)] as GrantRecord;
    return i === 0
      ? denyCommit(world, { grantId: grant.id, principal: world.principal.did })
      : allowCommit(world, grant);
  });

/** Repeats the call until the server is up again. */
const eventually = async <T>(ask: () => Promise<T>): Promise<T> => {
  for (const endsAtMs = performance.now() + 30_000; ; await pause(20))
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > endsAtMs) throw error;
    }
};

const sql = <Row extends object>(text: string, values: unknown[] = []) =>
  eventually(() => runSql<Row & Record<string, unknown>>(cluster.url, text, values));

/** Kills one session that is at work; tries another one where it has ended by itself. */
const killOne = async (): Promise<void> => {
  while (!(await tryToKill()));
};

const tryToKill = async (): Promise<boolean> => {
  const sessions = await sql<{ pid: number }>(
    `select pid from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
     order by (state = 'active') desc, random() limit 1`,
  );
  try {
    for (const { pid } of sessions) await killSession(pid);
    return sessions.length > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
};

interface Books {
  readonly stored: number;
  readonly lost: number;
  /** Events without a fact, or told twice. */
  readonly invented: number;
  readonly revoked: number;
  readonly paused: number;
}

/** Facts and events, by what they are about; repetitions are numbered. */
const booksSql = `
  with events as (
    select event_id, audience, type, data::json as data from event_log
    union all select event_id, audience, type, data::json from event_outbox
  ), told as (
    select event_id as what, audience from events where type like 'decision.%'
    union all select 'revoked ' || (data ->> 'grant_id'), audience from events
      where type = 'grant.revoked' and audience not like 'verifiers %' and audience != 'verifiers'
    union all select (data ->> 'paused') || ' ' || (data ->> 'subject'), audience from events where type = 'pause.changed'
  ), due as (
    select 'evt_' || substr(receipt_id, 5) as what, who.audience from receipts,
      unnest(array['rp ' || relying_party, 'principal ' || principal]) as who (audience)
      where exists (select from event_wants w where w.audience = who.audience and w.type like 'decision.%')
    union all select 'revoked ' || id, 'principal ' || principal from grants where revoked_at is not null
    union all select distinct 'revoked ' || g.id, 'rp ' || r.relying_party
      from grants g join receipts r on r.grant_id = g.id where g.revoked_at is not null
    union all select (action = 'pause.set') || ' ' || target, 'principal ' || (details ->> 'owner') from audit_events
      where action in ('pause.set', 'pause.lift')
  )
  select (select count(*)::integer from receipts) as stored,
    (select count(*)::integer from (select * from due except all select * from told) l) as lost,
    (select count(*)::integer from (select * from told except all select * from due) i) as invented,
    (select count(*)::integer from grants where revoked_at is not null) as revoked,
    (select count(*)::integer from audit_events where action in ('pause.set', 'pause.lift')) as paused`;

const checkBooks = async (): Promise<Books> => {
  const [books] = await sql<Books>(booksSql);
  return books as Books;
};

/** Null: the outcome is unknown, since the server was killed. */
const unlessKilled = async <T>(act: () => Promise<T>): Promise<T | null> => {
  try {
    return await act();
  } catch (error) {
    if (error instanceof StoreError || error instanceof ServiceError) return null;
    throw error;
  }
};

const revokeOne = () =>
  unlessKilled(async () => {
    const { id, principal } = await insertGrant(other);
    await store.verify.commitDecisions([denyCommit(other, { grantId: id, principal })]);
    await store.grants.recordRevocation([id]);
    await store.revocation.stampRevoked(other.principal.did, [id], Date.now());
    return id;
  });

it(`${KILLS} kills of server sessions lose no event and create no event without a fact`, async () => {
  let isOver = false;
  const acknowledged: string[] = [];
  const write = async () => {
    while (!isOver) {
      const batch = newBatch();
      const outcomes = await store.verify.commitDecisions(batch).catch((error: unknown) => {
        if (error instanceof StoreError) return [];
        throw error;
      });
      for (const [i, outcome] of outcomes.entries())
        if (outcome === 'STORED') acknowledged.push(batch[i]?.receiptId ?? '');
    }
  };
  const sequence = async () => {
    while (!isOver)
      await store.eventLog.sequence(50).catch((error: unknown) => {
        if (!(error instanceof StoreError)) throw error;
      });
  };
  const tell = async () => {
    for (const turns = new VerifierTurns(store.revocationNotices); !isOver; )
      await turns.tellNext().catch((error: unknown) => {
        if (!(error instanceof StoreError)) throw error;
      });
  };
  const revocations: string[] = [];
  const revoke = async () => {
    while (!isOver) {
      const id = await revokeOne();
      if (id !== null) revocations.push(id);
    }
  };
  const pauses: boolean[] = [];
  const pauseAndResume = async () => {
    const { did } = other.principal;
    const target = { scope: 'principal', owner: did, subject: did } as const;
    for (let isPaused = true; !isOver; ) {
      const changed = await unlessKilled(() => changePause(store, target, isPaused));
      if (changed === null) continue;
      pauses.push(isPaused);
      isPaused = !isPaused;
    }
  };
  const work = Promise.all([
    ...Array.from({ length: WRITERS }, write),
    ...[revoke(), pauseAndResume(), sequence(), tell()],
  ]);
  const kinds = [acknowledged, revocations, pauses];
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const kind = kinds[kill % kinds.length] ?? acknowledged;
      const before = kind.length;
      await eventually(async () => {
        if (kind.length === before) throw new Error('nothing is committed');
      });
      await pause(randomInt(20));
      await killOne();
    }
  } finally {
    isOver = true;
    await work;
  }
  await eventually(() => sequenceAll(cluster.url, store));
  const { stored, revoked: inForce, paused, ...faults } = await checkBooks();
  expect(faults).toEqual({ lost: 0, invented: 0 });
  expect(inForce).toBeGreaterThanOrEqual(revocations.length);
  expect(paused).toBeGreaterThanOrEqual(pauses.length);
  expect(stored).toBeGreaterThanOrEqual(acknowledged.length);
  expect(acknowledged.length + revocations.length + pauses.length).toBeGreaterThan(KILLS);
  const [missing] = await sql<{ count: number }>(
    `select count(*)::integer as count from unnest($1::text[]) as a (id)
     where not exists (select from receipts r where r.receipt_id = a.id)`,
    [acknowledged],
  );
  expect(missing).toEqual({ count: 0 });
}, 3_600_000);

/** A new decision for each try, because a decision can be stored only shortly after its evaluation. */
const commitWhenUp = () =>
  eventually(async () =>
    expect(await store.verify.commitDecisions(newBatch())).toEqual(Array(BATCH).fill('STORED')),
  );

it('the same comparison finds lost events if they are not written by the commit: the test can fail', async () => {
  const source = await alterFunction(
    cluster.url,
    'svc_commit_decisions',
    'perform svc_emit_decisions(p_decisions, v_outcomes);',
    'null;',
  );
  await commitWhenUp();
  await killOne();
  expect((await checkBooks()).lost).toBe(2 * BATCH);
  await sql(source);
  await commitWhenUp();
  expect((await checkBooks()).lost).toBe(2 * BATCH);
}, 60_000);
