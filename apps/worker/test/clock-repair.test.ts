/** What the operator's repair changes after the clock was ahead, and what it leaves unchanged. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { checkDatabase } from '@svc/fsck';
import { nativeCrypto } from '@svc/protocol/native';
import { closeDays, DatabaseClock, Holds, rollUpUsage, type ServiceDeps } from '@svc/service';
import { readClockState, repairClock } from '@svc/store-pg';
import { awayFromMidnight, daysAgo, moveFirstDay } from '@svc/testkit';
import { type MovableClock, moveClockOf } from '@svc/testkit/store/movable-clock';
import { openStore, withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { allowCommit, createWorld, denyCommit, insertGrant, type World } from '@svc/testkit/store/world';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';

await awayFromMidnight();
/** Until noon of tomorrow: at that time today is over and tomorrow is not, whatever the present time. */
const AHEAD_MS = Date.parse(`${daysAgo(-1)}T12:00:00Z`) - Date.now();
const stores = withStores();
const log = { info: () => {}, warn: () => {}, error: () => {} };
const { privateKey } = generateKeyPairSync('ed25519');
let clock: MovableClock;
let store: (typeof stores)['first'];
let world: World;
beforeAll(async () => {
  clock = await moveClockOf(stores.url);
  store = openStore(stores.url);
  world = await createWorld(store);
});
afterAll(() => store?.close());

/** A process that uses the database's clock as its own, as if the machine's clock had been changed with it. */
const misled = () =>
  ({
    store,
    log,
    holds: new Holds(log),
    clock: { nowMs: () => Math.floor(clock.nowMs()), resync: async () => {} },
    crypto: nativeCrypto,
    identity: {
      did: 'did:web:svc.example',
      statusKeys: {
        signer: {
          kid: 'did:web:svc.example#status-1',
          sign: (bytes: Uint8Array) => new Uint8Array(sign(null, bytes, privateKey)),
        },
      },
    },
  }) as unknown as ServiceDeps;

const unstopped = () => new AbortController().signal;
const days = async () =>
  (await runSql<{ day: string }>(stores.url, 'select day::text as day from closed_days order by day')).map(
    ({ day }) => day,
  );
/** Faults of sums, days and their chain. Signatures are not checked, since the rows of this test are not signed. */
const faults = async () => {
  const found: string[] = [];
  await checkDatabase({
    databaseUrl: stores.url,
    onFault: ({ check, where, problem }) => found.push(`${check}: ${where}: ${problem}`),
  });
  return found.filter((fault) =>
    /^(usage|days of Grants|production checks|closed days|trees|revocations)/.test(fault),
  );
};

it('clock repair reopens a day that was closed early and moves the seal back; sums agree, decisions are stored again', async () => {
  const [yesterday, today] = [daysAgo(1), daysAgo(0)];
  await moveFirstDay(stores.url, yesterday);
  const grant = await insertGrant(world);
  const before = [allowCommit(world, grant), denyCommit(world)];
  expect(await store.verify.commitDecisions(before)).toEqual(['STORED', 'STORED']);

  await clock.pass(AHEAD_MS);
  const deps = misled();
  await store.clock.advanceMark(deps.clock.nowMs());
  const ahead = allowCommit(world, grant, { evaluatedAtMs: deps.clock.nowMs() });
  expect(await store.verify.commitDecisions([ahead])).toEqual(['STORED']);
  expect((await closeDays(deps)).closed).toEqual([yesterday, today]);
  await clock.pass(10_000);
  await rollUpUsage(deps, unstopped());
  await clock.pass(-AHEAD_MS - 10_000);

  expect(await store.verify.commitDecisions([denyCommit(world)])).toEqual(['CLOCK']);
  expect(await readClockState(stores.url)).toMatchObject({
    closedEarly: [today],
    lastReceiptMs: ahead.evaluatedAtMs,
  });
  const published = await store.checkpoints.find(today);
  const repaired = await repairClock(stores.url, Date.now());
  expect(repaired).toMatchObject({ reopenedDays: 1, unsealed: true });
  expect(repaired.markMovedMs).toBeLessThan(-AHEAD_MS + 60_000);

  expect(await days()).toEqual([yesterday]);
  expect(await runSql(stores.url, 'select day::text as day, jws from retracted_checkpoints')).toEqual([
    { day: today, jws: published?.jws },
  ]);
  expect(
    await runSql(
      stores.url,
      `select actor_kind, details->>'reopened_days' as days from audit_events
      where action = 'clock.repair'`,
    ),
  ).toEqual([{ actor_kind: 'admin', days: '1' }]);
  // The service may have deleted spent Proofs meanwhile.
  const PROOF_LIFE_MS = 313_000;
  expect(repaired.decisionsFromMs).toBe(repaired.repairedAtMs + PROOF_LIFE_MS);
  expect(await store.verify.commitDecisions([denyCommit(world)])).toEqual(['CLOCK']);
  await clock.pass(PROOF_LIFE_MS);
  const later = denyCommit(world, { evaluatedAtMs: clock.nowMs() });
  expect(await store.verify.commitDecisions([later])).toEqual(['STORED']);
  await clock.pass(-PROOF_LIFE_MS);
  expect(await faults()).toEqual([]);
  await rollUpUsage({ store, clock: { nowMs: Date.now, resync: async () => {} } }, unstopped());
  expect(await faults()).toEqual([]);
});

it('clock repair ends the hold of processes, and a revocation is dated no earlier than a Receipt dated ahead', async () => {
  const holds = new Holds(log);
  await clock.pass(AHEAD_MS);
  await store.clock.advanceMark(clock.nowMs());
  await clock.pass(-AHEAD_MS);
  const process = await DatabaseClock.start({ store, holds, log });
  onTestFinished(() => process.stop());
  expect(holds.list()[0]?.reason).toContain('svc-admin clock');
  await repairClock(stores.url, Date.now());
  await process.resync();
  expect(holds.list()).toEqual([]);

  const [{ id: grantId, at } = { id: '', at: 0 }] = await runSql<{ id: never; at: number }>(
    stores.url,
    `select grant_id as id, svc_ms(evaluated_at)::float8 as at from receipts where evaluated_at > now() + interval '1 hour'`,
  );
  const stamps = await store.revocation.stampRevoked(world.principal.did, [grantId as never], Date.now());
  expect(stamps.get(grantId as never)).toBe(at);
  expect(await faults()).toEqual([]);
});

it('clock repair is refused, and moves no mark, if the clocks of database and operator differ by more than 5 s', async () => {
  const before = await readClockState(stores.url);
  await expect(repairClock(stores.url, Date.now() + 6_000)).rejects.toThrow(/differ by more than 5 s/);
  expect((await readClockState(stores.url)).markMs).toBe(before.markMs);
});

it('closed days and retracted checkpoints are still append-only after clock repair', async () => {
  for (const table of ['closed_days', 'retracted_checkpoints'])
    await expect(runSql(stores.url, `delete from ${table}`)).rejects.toThrow(/append-only/);
});
