/** What retention deletes, and above all what it keeps, with 10^4 rows and more, beside commits. */
import {
  clearOldActions,
  type DecisionCommit,
  forgetIdempotencyKeys,
  forgetSpentProofs,
  type RetentionStore,
} from '@svc/service';
import { tamper } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { machineClock } from '@svc/testkit/store/movable-clock';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import {
  allowCommit,
  createWorld,
  denyCommit,
  insertGrant,
  newJti,
  type World,
} from '@svc/testkit/store/world';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createStore } from './create-store.ts';

const stores = withStores();
let world: World;
beforeAll(async () => {
  world = await createWorld(stores.first);
});

const unstopped = () => new AbortController().signal;
const count = async (from: string): Promise<number> => {
  const [row] = await runSql<{ count: string }>(stores.url, `select count(*) from ${from}`);
  return Number(row?.count);
};

/** The first store, and a signal that is aborted after the first step. */
const endingAfterOneStep = () => {
  const stop = new AbortController();
  const once =
    <Args extends unknown[], T>(step: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      const result = await step(...args);
      stop.abort();
      return result;
    };
  const { sweepSpentProofs, sweepIdempotencyKeys, clearOldActions } = stores.first.retention;
  const retention: RetentionStore = {
    ...stores.first.retention,
    sweepSpentProofs: once(sweepSpentProofs),
    sweepIdempotencyKeys: once(sweepIdempotencyKeys),
    clearOldActions: once(clearOldActions),
  };
  return { deps: { store: { ...stores.first, retention }, clock: machineClock }, signal: stop.signal };
};

describe('spent Proofs', () => {
  const insertSpent = (rows: number, expires: string) =>
    runSql(
      stores.url,
      `insert into spent_proofs (grant_id, jti, expires_at)
       select 'urn:svc:grant:old', gen_random_uuid()::text, ${expires} from generate_series(1, ${rows}) as n`,
    );
  beforeEach(() => runSql(stores.url, 'truncate spent_proofs'));

  it('are forgotten an hour after their expiry and not before, by two nodes at once', async () => {
    const old = sampled({ quick: 15_000, deep: 50_000 });
    await insertSpent(old, `now() - interval '2 hours'`);
    await insertSpent(7_200, `now() - interval '58 minutes' + n * interval '1 second'`);
    await insertSpent(10_000, `now() - interval '61 minutes'`);
    const rounds = await Promise.all([
      forgetSpentProofs({ store: stores.first, clock: machineClock }, unstopped()),
      forgetSpentProofs({ store: stores.second, clock: machineClock }, unstopped()),
    ]);
    expect(rounds[0].removed + rounds[1].removed).toBe(old + 10_000);
    expect(await count('spent_proofs')).toBe(7_200);
    expect(await count(`spent_proofs where expires_at < now() - interval '1 hour'`)).toBe(0);
  });

  it('that remain after an interrupted round are forgotten by the next one', async () => {
    await insertSpent(20_000, `now() - interval '2 hours'`);
    const { deps, signal } = endingAfterOneStep();
    const first = await forgetSpentProofs(deps, signal);
    expect(await count('spent_proofs')).toBe(20_000 - first.removed);
    expect(first.removed).toBeGreaterThan(0);
    expect(first.removed).toBeLessThan(10_000);
    const rest = await forgetSpentProofs({ store: stores.first, clock: machineClock }, unstopped());
    expect(first.removed + rest.removed).toBe(20_000);
    expect(await forgetSpentProofs({ store: stores.first, clock: machineClock }, unstopped())).toEqual({
      ...{ removed: 0, left: 0 },
    });
  });

  it('lie in the table before the position that endOf returns', async () => {
    const { retention } = stores.first;
    expect(await retention.endOf('spent_proofs')).toBe(0);
    await insertSpent(15_000, `now() + interval '1 hour'`);
    const end = await retention.endOf('spent_proofs');
    let last = 0;
    for (
      let next: number | null = 0;
      next !== null;
      { next } = await retention.sweepSpentProofs(last, Date.now())
    )
      last = next;
    expect(last).toBeGreaterThan(0);
    expect(last).toBeLessThan(end);
    expect((await retention.sweepSpentProofs(end, Date.now())).next).toBeNull();
  });

  it('that a step could not reach in time are forgotten by the next round', async () => {
    await insertSpent(10, `now() - interval '2 hours'`);
    const impatient = createStore({ databaseUrl: stores.url, deadlines: { transactionMs: 100 } });
    await withSession(stores.url, async (session) => {
      await session.query('begin; lock table spent_proofs in share mode');
      await expect(
        forgetSpentProofs({ store: impatient, clock: machineClock }, unstopped()),
      ).rejects.toMatchObject({
        name: 'StoreError',
      });
      await session.query('rollback');
    });
    await impatient.close();
    await forgetSpentProofs({ store: stores.first, clock: machineClock }, unstopped());
    expect(await count('spent_proofs')).toBe(0);
  });

  const OTHERS = sampled({ quick: 10_000, deep: 40_000 });
  it(`within their time stay replays while ${OTHERS} others are forgotten`, async () => {
    const grant = await insertGrant(world);
    const MINUTE_MS = 60_000;
    // Valid, just expired, and within the margin.
    const spends = [5, 0, -30, -59].flatMap((minutes) =>
      Array.from({ length: 8 }, () => ({
        grantId: grant.id,
        jti: newJti(),
        expiresAtMs: Date.now() + minutes * MINUTE_MS,
      })),
    );
    await insertSpent(OTHERS / 2, `now() - interval '2 hours'`);
    const commitAll = () =>
      stores.second.verify.commitDecisions(spends.map((spend) => allowCommit(world, grant, { spend })));
    expect(new Set(await commitAll())).toEqual(new Set(['STORED']));
    await insertSpent(OTHERS / 2, `now() - interval '2 hours'`);
    let isOver = false;
    const pruning = forgetSpentProofs({ store: stores.first, clock: machineClock }, unstopped()).finally(
      () => {
        isOver = true;
      },
    );
    const outcomes = new Set<string>();
    do for (const outcome of await commitAll()) outcomes.add(outcome);
    while (!isOver);
    expect(await pruning).toEqual({ removed: OTHERS, left: 0 });
    expect([...outcomes, ...(await commitAll())].every((outcome) => outcome === 'REPLAY')).toBe(true);
  });
});

describe('idempotency keys', () => {
  const insertKeys = (rows: number, created: string) =>
    runSql(
      stores.url,
      // The physical order is the reverse of the order in which commits claim keys.
      `insert into idempotency_keys (relying_party, key, body_hash, receipt_id, created_at)
       select '${world.relyingParty.did}', 'key-' || lpad((1000000 - n)::text, 7, '0'), 'h', 'drc_' || n, ${created}
       from generate_series(1, ${rows}) as n`,
    );
  const claim = (key: string): DecisionCommit => denyCommit(world, { idempotency: { key, bodyHash: 'h2' } });
  beforeEach(() => runSql(stores.url, 'truncate idempotency_keys'));

  it('are forgotten an hour after their claim and not before', async () => {
    await insertKeys(
      30_000,
      `now() - case n % 3 when 0 then interval '1 minute' when 1 then interval '58 minutes' else interval '61 minutes' end`,
    );
    expect(await forgetIdempotencyKeys({ store: stores.first, clock: machineClock }, unstopped())).toEqual({
      ...{ removed: 10_000, left: 0 },
    });
    expect(await count(`idempotency_keys where created_at < now() - interval '1 hour'`)).toBe(0);
  });

  it('that are being claimed again are skipped without waiting', async () => {
    await insertKeys(2, `now() - interval '2 hours'`);
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      await session.query(`update idempotency_keys set created_at = now() where key = 'key-0999999'`);
      expect(await forgetIdempotencyKeys({ store: stores.first, clock: machineClock }, unstopped())).toEqual({
        ...{ removed: 1, left: 0 },
      });
      await session.query('commit');
    });
    expect(await forgetIdempotencyKeys({ store: stores.first, clock: machineClock }, unstopped())).toEqual({
      ...{ removed: 0, left: 0 },
    });
    expect(await count(`idempotency_keys where key = 'key-0999999'`)).toBe(1);
  });

  it('that are claimed again at the same time are all stored and kept', async () => {
    await insertKeys(20_000, `now() - interval '2 hours'`);
    const keys = Array.from({ length: 1_000 }, (_, n) => `key-${String(999_999 - n * 20).padStart(7, '0')}`);
    const claims = async () => {
      const outcomes: string[] = [];
      for (let at = 0; at < keys.length; at += 50)
        outcomes.push(
          ...(await stores.second.verify.commitDecisions(keys.slice(at, at + 50).map((key) => claim(key)))),
        );
      return outcomes;
    };
    const [outcomes] = await Promise.all([
      claims(),
      forgetIdempotencyKeys({ store: stores.first, clock: machineClock }, unstopped()),
      forgetIdempotencyKeys({ store: stores.first, clock: machineClock }, unstopped()),
    ]);
    expect(new Set(outcomes)).toEqual(new Set(['STORED']));
    await forgetIdempotencyKeys({ store: stores.first, clock: machineClock }, unstopped());
    expect(await count('idempotency_keys')).toBe(1_000);
    expect(await count(`idempotency_keys where body_hash = 'h2'`)).toBe(1_000);
  });
});

const ACTION = `action_type = null, amount = null, currency = null, resource = null, method = null`;
const ACTION_COLUMNS = ['action_type', 'amount', 'currency', 'resource', 'method'];

/** Inserts Receipts with an Action, `everySeconds` apart from `first` on. Creates their partitions. */
const insertReceipts = async (rows: number, first: string, everySeconds: number): Promise<void> => {
  const at = `(${first} + n * ${everySeconds} * interval '1 second')`;
  await runSql(
    stores.url,
    `select svc_ensure_receipt_partitions((min(t) at time zone 'UTC')::date, (max(t) at time zone 'UTC')::date)
     from (select ${at} as t from generate_series(1, ${rows}) as n) as times`,
  );
  await runSql(
    stores.url,
    `insert into receipts (receipt_id, relying_party, decision, evaluated_at, action_type, amount, currency, resource,
       jws, content_hash)
     select left(svc_lowest_receipt_id(${at}), 14) || lpad(n::text, 16, '0'), 'did:web:old.example', 'ALLOW',
       date_trunc('milliseconds', ${at}), 'commerce:purchase', n, 'USD', 'order/' || n, 'jws-' || n,
       sha256(convert_to('jws-' || n, 'UTF8'))
     from generate_series(1, ${rows}) as n`,
  );
};
const SEVEN_YEARS_AGO = `(now() at time zone 'UTC' - interval '7 years') at time zone 'UTC'`;
const old = `receipts where relying_party = 'did:web:old.example'`;

describe('action fields of Receipts', () => {
  it('are cleared after 7 years by two nodes at once, also after an interrupted round; other columns are unchanged', async () => {
    const rest = () =>
      runSql<{ rest: string }>(
        stores.url,
        `select encode(sha256(convert_to(string_agg((to_jsonb(r) - '{${ACTION_COLUMNS.join(',')}}'::text[])::text, ''
           order by receipt_id), 'UTF8')), 'hex') as rest from receipts r`,
      );
    // Receipts over three days, and one a second for a quarter of an hour around the limit.
    const long = sampled({ quick: 1_500, deep: 9_000 });
    await insertReceipts(long, `timestamptz '2011-03-01 00:00:00Z'`, (3 * 86_400) / long);
    await insertReceipts(900, `${SEVEN_YEARS_AGO} - interval '10 minutes'`, 1);
    const before = await rest();
    const { deps, signal } = endingAfterOneStep();
    const first = await clearOldActions(deps, signal);
    expect(first.cleared).toBe(500);
    const rounds = await Promise.all([
      clearOldActions({ store: stores.first, clock: machineClock }, unstopped()),
      clearOldActions({ store: stores.second, clock: machineClock }, unstopped()),
    ]);
    const cleared = rounds.reduce((sum, round) => sum + round.cleared, first.cleared);
    expect(await count(`${old} and action_type is null and amount is null and resource is null`)).toBe(
      cleared,
    );
    expect(cleared).toBeGreaterThanOrEqual(long + 599);
    expect(await count(`${old} and action_type is null and evaluated_at > ${SEVEN_YEARS_AGO}`)).toBe(0);
    expect(
      await count(`${old} and action_type is not null and amount is not null and resource is not null`),
    ).toBe(long + 900 - cleared);
    expect(await rest()).toEqual(before);
    // Time goes on: exactly the rows that have become old enough since are cleared.
    const { cleared: later } = await clearOldActions(
      { store: stores.first, clock: machineClock },
      unstopped(),
    );
    expect(await count(`${old} and action_type is null`)).toBe(cleared + later);
  });

  const columns = async () =>
    (
      await runSql<{ name: string; type: string }>(
        stores.url,
        `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
         where attrelid = 'receipts'::regclass and attnum > 0 and not attisdropped`,
      )
    ).map(({ name, type }) => [name, OTHER[type]?.replaceAll('?', name)] as const);
  const OTHER: Readonly<Record<string, string>> = {
    text: `coalesce(?, '') || 'x'`,
    bigint: 'coalesce(?, 0) + 1',
    boolean: 'not ?',
    bytea: `sha256('x')`,
    'timestamp with time zone': `? + interval '1 millisecond'`,
  };

  it('are the only columns that may change: all together, to null, and only in old rows', async () => {
    await insertReceipts(1, `timestamptz '2012-01-01 12:00:00Z'`, 1);
    await insertReceipts(1, `now() - interval '7 years' + interval '1 day'`, 1);
    const row = `where relying_party = 'did:web:old.example' and evaluated_at between '2012-01-01Z' and '2012-01-02Z'`;
    const refusals: string[] = [
      `update receipts set ${ACTION} where evaluated_at > now() - interval '2555 days'`,
    ];
    for (const [name, other] of await columns()) {
      if (other === undefined) throw new Error(`the test has no other value for ${name}`);
      refusals.push(`update receipts set ${name} = ${other} ${row}`);
      const cleared = ACTION.split(', ').filter((part) => !part.startsWith(`${name} `));
      refusals.push(`update receipts set ${cleared.join(', ')}, ${name} = ${other} ${row}`);
    }
    for (const name of ACTION_COLUMNS) refusals.push(`update receipts set ${name} = null ${row}`);
    await withSession(stores.url, async (session) => {
      for (const refused of refusals)
        await expect(session.query(refused), refused).rejects.toThrow('append-only');
    });
    await runSql(stores.url, `update receipts set ${ACTION} ${row}`);
    expect(await count(`receipts ${row} and action_type is null`)).toBe(1);
    await expect(runSql(stores.url, `update receipts set ${ACTION} ${row}`)).rejects.toThrow('append-only');
  });

  it('of a day after a packed day are cleared like those before it', async () => {
    const [before, packed, behind] = ['2013-05-01', '2013-05-02', '2013-05-03'];
    await insertReceipts(300, `timestamptz '${before} 00:00:00Z'`, 860);
    await tamper(
      stores.url,
      `update retention set actions_cleared_before = svc_lowest_receipt_id('${before}Z');
       insert into checkpoints (day, tree_size, root, kid, jws, hash, content_root)
         values ('${packed}', 0, 'r', 'k', 'j', 'h', 'c');
       insert into cold_days (day, state, manifest, manifest_hash, detached_at) values ('${packed}', 'cold', 'm', 'h', now())`,
    );
    await clearOldActions({ store: stores.first, clock: machineClock }, unstopped());
    expect(
      await count(
        `${old} and action_type is not null and evaluated_at >= '${before}Z' and evaluated_at < date '${behind}' + 1`,
      ),
    ).toBe(0);
  });
});
