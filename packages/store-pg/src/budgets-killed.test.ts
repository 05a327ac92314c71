/**
 * PostgreSQL killed at every statement of a consume, and the connection cut before and after every message of a commit
 * on budgets and of a restore: no budget is lost, and none is spent without its Receipt. Uses a server of its own.
 */
import { applyConsumption, type Balances, emptyBalances, findBalance } from '@svc/protocol';
import { type DecisionCommit, type GrantRecord, type Store, StoreError } from '@svc/service';
import { type OwnCluster, startOwnCluster } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { budgetCommit, keyOf, readBalances, usesOf } from '@svc/testkit/store/budgets';
import { killSession, runSql, untilRow, withSession } from '@svc/testkit/store/session';
import { startTcpProxy } from '@svc/testkit/store/tcp-proxy';
import { createWorld, insertGrant, newOutcome, type World } from '@svc/testkit/store/world';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStore } from './create-store.ts';

const LIMIT = 1_000;
const MANY = 3;
/** Kills the server at each statement; a sample tries every eighth. */
const STEP = sampled({ quick: 8, deep: 1 });
/** Long limits: the silence of a killed server must be noticed, not a time-out of ours. */
const PATIENT = { commitMs: 20_000, budgetCommitMs: 20_000, transactionMs: 20_000 };

let cluster: OwnCluster;
let store: Store;
let world: World;
let grant: GrantRecord;

beforeAll(async () => {
  cluster = await startOwnCluster({ durable: false });
  store = createStore({ databaseUrl: cluster.url, deadlines: PATIENT });
  world = await createWorld(store);
  grant = await insertGrant(world);
}, 60_000);
afterAll(async () => {
  await store?.close();
  await cluster?.stop();
}, 60_000);

const chainOn = (from: Balances): DecisionCommit[] => {
  let balances = from;
  return Array.from({ length: MANY }, () => {
    const commit = budgetCommit(world, grant, balances, { budget: usesOf(LIMIT), amount: 5 });
    if (commit.budget?.consumption) balances = applyConsumption(balances, commit.budget.consumption);
    return commit;
  });
};

/** Repeats the call until the server is up again. */
const eventually = async <T>(ask: () => Promise<T>): Promise<T> => {
  for (const endsAtMs = performance.now() + 20_000; ; )
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreError) || performance.now() > endsAtMs) throw error;
    }
};

const runWhenUp = <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
  eventually(async () => {
    try {
      return await runSql<Row>(cluster.url, text, values);
    } catch (error) {
      throw new StoreError('unavailable', String(error));
    }
  });

/**
 * Every purchase has its Receipt and its Proof, and the reverse; the log replays to the balances. Answers the version.
 */
const checkBooks = async (): Promise<number> => {
  const balances = await eventually(() => readBalances(store, grant.id));
  const [row] = await runWhenUp<{ events: string; receipts: string; proofs: string; orphans: string }>(
    `select (select count(*) from consumption_events where cause = 'consume') as events,
       (select count(*) from receipts where decision = 'ALLOW') as receipts,
       (select count(*) from spent_proofs) as proofs,
       (select count(*) from consumption_events e where not exists
         (select from receipts r where r.receipt_id = e.receipt_id and r.decision = 'ALLOW')) as orphans`,
  );
  const { events } = await eventually(() => store.consumption.findPage(grant.id, { limit: 10_000 }));
  const limits = findBalance(balances, keyOf(1))?.limits ?? usesOf(LIMIT).limits;
  const replayed = events.toReversed().map((event) => ({ ...event, limits }));
  expect(replayed.reduce(applyConsumption, emptyBalances(grant.id))).toEqual(balances);
  const consumes = String(events.filter(({ cause }) => cause === 'consume').length);
  expect(row).toEqual({ events: consumes, receipts: consumes, proofs: consumes, orphans: '0' });
  return balances.version;
};

describe('no budget is lost or spent without a Receipt if PostgreSQL is killed', () => {
  const FUNCTIONS = [
    'svc_commit_decisions',
    'svc_judge_budgets',
    'svc_spend_proofs',
    'svc_settle_budgets',
    'svc_consume',
    'svc_log_consumption',
  ] as const;
  let points = 0;

  /** Lets a test choose any statement of the functions as the one at which they stop. */
  beforeAll(async () => {
    await withSession(cluster.url, async (session) => {
      await session.query(`create table stop_at (point integer); insert into stop_at values (-1);
        create function svc_stop(p_point integer) returns void language plpgsql volatile as $$
        begin
          if (select point from stop_at) = p_point then perform pg_sleep(60); end if;
        end $$`);
      for (const name of FUNCTIONS) {
        const { rows } = await session.query<{ source: string }>(
          'select pg_get_functiondef($1::regproc) as source',
          [name],
        );
        const [head = '', body = ''] = (rows[0]?.source ?? '').split(/^begin$/m);
        const stopped = body.replaceAll(
          /(^|;)((?:\n *--.*|\n)*\n) {2}(?=(?:if|for|select|with|return|perform|insert|v_\w+ :=) )/g,
          (_, end: string, between: string) => `${end}${between}  perform svc_stop(${points++}); `,
        );
        await session.query(`${head}begin${stopped}`);
      }
    });
    expect(points).toBeGreaterThan(20);
  });

  it('at every statement of a consume', async () => {
    await eventually(() => store.verify.commitDecisions(chainOn(emptyBalances(grant.id))));
    let stops = 0;
    for (let point = 0; point < points; point += STEP) {
      const before = await checkBooks();
      await runWhenUp('update stop_at set point = $1', [point]);
      const decisions = chainOn(await eventually(() => readBalances(store, grant.id)));
      const commit = store.verify.commitDecisions(decisions);
      const killed = withSession(cluster.url, (session) => killSleeper(session));
      const outcome = await Promise.race([
        commit.catch((error: unknown) => error),
        killed.then(() => 'killed'),
      ]);
      if (!Array.isArray(outcome)) {
        stops++;
        await expect(commit).rejects.toMatchObject({ kind: 'ambiguous' });
        expect(await checkBooks()).toBe(before);
      }
      await runWhenUp('update stop_at set point = -1');
      await killed.catch(() => {});
      if (Array.isArray(outcome)) continue;
      const again = await eventually(async () =>
        store.verify.commitDecisions(chainOn(await readBalances(store, grant.id))),
      );
      expect(again).toEqual(Array(MANY).fill('STORED'));
    }
    expect(stops).toBeGreaterThan(15 / STEP);
  }, 120_000);

  /** Sends SIGKILL to the sleeping backend; the server then ends all others and recovers. */
  const killSleeper = async (session: Parameters<typeof untilRow>[0]): Promise<void> => {
    await session.query(`set statement_timeout = '10s'`);
    await untilRow(
      session,
      `select from pg_stat_activity, stop_at where wait_event = 'PgSleep' or stop_at.point = -1`,
    );
    const { rows } = await session.query<{ pid: number }>(
      `select pid from pg_stat_activity where wait_event = 'PgSleep'`,
    );
    for (const { pid } of rows) await killSession(pid);
  };
});

describe('no budget is lost or spent without a Receipt if the connection is cut', () => {
  /** Loses the n-th message that carries a statement, or its answer. */
  const startProxy = async () => {
    let left = Number.POSITIVE_INFINITY;
    let losesAnswer = false;
    const proxy = await startTcpProxy(cluster.url, {
      handle({ client, server, cut }) {
        let isCut = false;
        return {
          fromClient(chunk) {
            // Q: a statement as text; P and B: a prepared statement.
            if ('QPB'.includes(String.fromCharCode(chunk[0] ?? 0)) && --left === 0) {
              if (!losesAnswer) return cut();
              isCut = true;
            }
            server.write(chunk);
          },
          fromServer: (chunk) => (isCut ? cut() : void client.write(chunk)),
        };
      },
    });
    return {
      ...proxy,
      cut: (message: number, when: 'before' | 'after') => {
        left = message;
        losesAnswer = when === 'after';
      },
      wasCut: () => left <= 0,
    };
  };

  const cutEverywhere = async (
    when: 'before' | 'after',
    work: (through: Store) => Promise<unknown>,
  ): Promise<number> => {
    const proxy = await startProxy();
    const through = createStore({
      databaseUrl: proxy.url,
      deadlines: PATIENT,
      poolSizes: { budgetCommits: 1, admin: 1 },
    });
    await eventually(() => through.now());
    try {
      for (let message = 1; ; message++) {
        proxy.cut(message, when);
        const error = await work(through).then(
          () => null,
          (reason: unknown) => reason,
        );
        if (!proxy.wasCut()) {
          expect(error).toBeNull();
          return message - 1;
        }
        proxy.cut(Number.POSITIVE_INFINITY, when);
        if (error !== null) expect(error).toBeInstanceOf(StoreError);
        await checkBooks();
      }
    } finally {
      proxy.cut(Number.POSITIVE_INFINITY, when);
      await through.close();
      await proxy.close();
    }
  };

  it.each(sampled({ quick: ['before'] as const, deep: ['before', 'after'] as const }))(
    '%s every message of a commit on budgets',
    async (when) => {
      const messages = await cutEverywhere(when, async (through) => {
        const before = await checkBooks();
        let stored: readonly string[] | null = null;
        try {
          stored = await through.verify.commitOnBudgets(
            [{ grantId: grant.id, jti: null }],
            800,
            async ([facts]) => chainOn(facts?.balances ?? emptyBalances(grant.id)),
          );
        } catch (error) {
          if ((error as StoreError).kind !== 'ambiguous') expect(await checkBooks()).toBe(before);
          throw error;
        }
        expect(stored).toEqual(Array(MANY).fill('STORED'));
        expect(await checkBooks()).toBe(before + MANY);
      });
      // begin, locks, balances, decisions, commit
      expect(messages).toBeGreaterThanOrEqual(5);
    },
    60_000,
  );

  it.each(sampled({ quick: ['after'] as const, deep: ['before', 'after'] as const }))(
    '%s every message of a restore',
    async (when) => {
      const messages = await cutEverywhere(when, async (through) => {
        const commits = chainOn(await readBalances(store, grant.id));
        expect(await store.verify.commitDecisions(commits)).toEqual(Array(MANY).fill('STORED'));
        const { receiptId } = commits[0] as DecisionCommit;
        const before = await checkBooks();
        const restore = { grantId: grant.id, receiptId, cause: 'restore' } as const;
        try {
          await through.transaction(async (tx) => {
            const consumed = (await tx.consumption.findOfReceipt(receiptId))?.consumed;
            if (consumed === undefined) throw new Error('nothing was consumed');
            const balances = await tx.consumption.findForUpdate(grant.id);
            const outcome = newOutcome(receiptId, 1, { type: 'cancelled' });
            const version = await tx.consumption.append(
              { ...restore, attestationId: outcome.attestationId },
              balances,
              (recordedAtMs) => ({
                ...consumed,
                deltaTotal: -consumed.deltaTotal,
                deltaPeriod: 0,
                deltaUses: -consumed.deltaUses,
                recordedAtMs,
              }),
            );
            await tx.outcomes.insert({ ...outcome, consumption: { cause: 'restore', version } }, null);
          });
        } finally {
          const after = await checkBooks();
          const ledger = await store.outcomes.listOfReceipts([receiptId]);
          expect(after - before).toBe(ledger.length);
        }
      });
      expect(messages).toBeGreaterThan(6);
    },
    60_000,
  );
});
