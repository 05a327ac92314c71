import type { DecisionCommit } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { alterFunction, runSql, untilRow, untilWaiting, withSession } from '@svc/testkit/store/session';
import {
  allowCommit,
  createWorld,
  denyCommit,
  insertGrant,
  newJti,
  type World,
} from '@svc/testkit/store/world';
import type pg from 'pg';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { commitStatement } from './commit-parameters.ts';

const stores = withStores();
const exclusive = 'select pg_advisory_xact_lock(1, hashtext($1))';
const shared = 'select pg_advisory_xact_lock_shared(1, hashtext($1))';
const dayLock = 'select pg_advisory_xact_lock(2, $1)';
const someoneWaits = `select from pg_locks where locktype = 'advisory' and not granted
  and database = (select oid from pg_database where datname = current_database())`;
let world: World;
let other: World;

beforeEach(async () => {
  world = await createWorld(stores.first);
  other = await createWorld(stores.first);
});

it('a lock that is not free in time fails only the decisions that need it', async () => {
  const batch = [
    allowCommit(world, await insertGrant(world)),
    allowCommit(other, await insertGrant(other)),
    denyCommit(world),
  ];
  await withSession(stores.url, async (holder) => {
    await holder.query('begin');
    await holder.query(exclusive, [world.principal.did]);
    const outcomes = await stores.first.verify.commitDecisions(batch);
    expect(outcomes).toEqual(['LOCKED', 'STORED', 'STORED']);
  });
});

it('a lock whose turn comes only after the time limit is not taken: the decision is LOCKED', async () => {
  const batch = [allowCommit(world, await insertGrant(world)), allowCommit(other, await insertGrant(other))];
  await withSession(stores.url, async (holder) => {
    await holder.query('begin');
    for (const { principal } of [world, other]) await holder.query(exclusive, [principal.did]);
    expect(await stores.first.verify.commitDecisions(batch)).toEqual(['LOCKED', 'LOCKED']);
  });
});

/** Leaves the state of a node that stopped between the statement of a commit on budgets and its COMMIT. */
const leaveOpen = async (holder: pg.Client, ...batch: readonly DecisionCommit[]) => {
  await holder.query('begin');
  const { text, values } = commitStatement(batch);
  const { rows } = await holder.query(text, [...values]);
  expect(rows[0].outcomes).toEqual(batch.map(() => 'STORED'));
};

it('a node that stopped before it had bound a Grant delays only decisions that bind that Grant', async () => {
  const [grant, foreign, bound] = [
    await insertGrant(world),
    await insertGrant(other),
    await insertGrant(world),
  ];
  await stores.first.verify.commitDecisions([allowCommit(world, bound)]);
  await withSession(stores.url, async (holder) => {
    await leaveOpen(holder, allowCommit(world, grant));
    const batch = [
      allowCommit(other, foreign),
      allowCommit(world, grant),
      allowCommit(world, bound, { bindsGrantHash: null }),
      denyCommit(other),
    ];
    expect(await stores.first.verify.commitDecisions(batch)).toEqual([
      'STORED',
      'LOCKED',
      'STORED',
      'STORED',
    ]);
    await holder.query('rollback');
    expect(await stores.first.verify.commitDecisions([allowCommit(world, grant)])).toEqual(['STORED']);
  });
});

it('a node that stopped with an idempotency key delays only decisions with that key of that relying party', async () => {
  const idempotency = { key: newJti(), bodyHash: 'sha256:aa' };
  await withSession(stores.url, async (holder) => {
    await leaveOpen(holder, denyCommit(world, { idempotency }));
    const batch = [
      denyCommit(world, { idempotency: { ...idempotency, key: newJti() } }),
      denyCommit(world, { idempotency }),
      denyCommit(other, { idempotency }),
      allowCommit(world, await insertGrant(world)),
    ];
    expect(await stores.first.verify.commitDecisions(batch)).toEqual([
      'STORED',
      'LOCKED',
      'STORED',
      'STORED',
    ]);
    await holder.query('commit');
    expect(await stores.first.verify.commitDecisions([denyCommit(world, { idempotency })])).toEqual([
      'IDEMPOTENCY_TAKEN',
    ]);
  });
});

it('a commit waits for a lock that is released in time', async () => {
  const grant = await insertGrant(world);
  await withSession(stores.url, async (holder) => {
    await holder.query('begin');
    await holder.query(exclusive, [world.principal.did]);
    const commit = stores.first.verify.commitDecisions([allowCommit(world, grant)]);
    await untilRow(holder, someoneWaits);
    await holder.query('commit');
    expect(await commit).toEqual(['STORED']);
  });
});

it('commits that could share the lock do not overtake a waiting revocation', async () => {
  const grant = await insertGrant(world);
  await withSession(stores.url, async (holder) => {
    await holder.query('begin');
    await holder.query(shared, [world.principal.did]);
    const revoker = stores.second.revocation.stampRevoked(world.principal.did, [grant.id], Date.now());
    await untilRow(holder, someoneWaits);
    expect(await stores.first.verify.commitDecisions([allowCommit(world, grant)])).toEqual(['LOCKED']);
    await holder.query('commit');
    expect([...(await revoker).keys()]).toEqual([grant.id]);
  });
});

it('a revocation that waits for the row of its Grant delays no decision about other Grants of the Principal', async () => {
  const [grant, live] = [await insertGrant(world), await insertGrant(world)];
  await stores.first.grants.recordRevocation([grant.id]);
  // As a kill switch does while it stamps the Grant.
  await withSession(stores.url, async (holder) => {
    await holder.query('begin');
    await holder.query('select from grants where id = $1 for update', [grant.id]);
    const stamping = stores.second.revocation.stampRevoked(world.principal.did, [grant.id], Date.now());
    await untilWaiting(holder);
    expect(await stores.first.verify.commitDecisions([allowCommit(world, live)])).toEqual(['STORED']);
    await holder.query('commit');
    expect([...(await stamping).keys()]).toEqual([grant.id]);
  });
});

it('a revocation that waits for commits delays no recording of another one, also in a call that names both Grants', async () => {
  const [grant, other] = [await insertGrant(world), await insertGrant(world)];
  const { did } = world.principal;
  await stores.first.grants.recordRevocation([grant.id]);
  await withSession(stores.url, async (holder) => {
    await holder.query('begin');
    await holder.query(shared, [did]);
    const stamping = stores.second.revocation.stampRevoked(did, [grant.id], Date.now());
    await untilRow(holder, someoneWaits);
    const { grants } = await stores.first.transaction(
      (tx) => tx.grants.findRevocableForUpdate(did, [grant.id, other.id]),
      { lane: 'urgent' },
    );
    expect(grants.map(({ id }) => id).sort()).toEqual([grant.id, other.id].sort());
    await holder.query('commit');
    await stamping;
  });
});

it('a revocation is dated after the commits that it waited for', async () => {
  const grant = await insertGrant(world);
  await withSession(stores.url, async (holder) => {
    await holder.query('begin');
    await holder.query(shared, [world.principal.did]);
    const stamping = stores.first.revocation.stampRevoked(world.principal.did, [grant.id], Date.now());
    await untilRow(holder, someoneWaits);
    const { rows } = await holder.query('select svc_ms(svc_now()) as now');
    await holder.query('commit');
    expect((await stamping).get(grant.id)).toBeGreaterThanOrEqual(Number(rows[0].now));
  });
});

it('a revocation that does not get its barrier in time fails with lock_timeout and stamps nothing', async () => {
  const grant = await insertGrant(world);
  await stores.first.grants.recordRevocation([grant.id]);
  const source = await alterFunction(stores.url, 'svc_stamp_revoked', `'2s'`, `'200ms'`);
  onTestFinished(async () => void (await runSql(stores.url, source)));
  await withSession(stores.url, async (holder) => {
    await holder.query('begin');
    await holder.query(shared, [world.principal.did]);
    const stamped = stores.first.revocation.stampRevoked(world.principal.did, [grant.id], Date.now());
    await expect(stamped).rejects.toMatchObject({ name: 'StoreError', kind: 'lock_timeout' });
  });
  expect((await stores.first.grants.find(grant.id))?.revokedAtMs).toBeNull();
});

it('no decision is committed into a day while it is being closed', async () => {
  await withSession(stores.url, async (closer) => {
    await closer.query('begin');
    await closer.query(dayLock, [Math.floor(Date.now() / 86_400_000)]);
    expect(await stores.first.verify.commitDecisions([denyCommit(world)])).toEqual(['LOCKED']);
  });
  expect(await stores.first.verify.commitDecisions([denyCommit(world)])).toEqual(['STORED']);
});

it('a revocation stamps only Grants of the Principal whose lock it holds, and each only once', async () => {
  const [grant, foreign] = [await insertGrant(world), await insertGrant(other)];
  const first = await stores.first.revocation.stampRevoked(
    world.principal.did,
    [grant.id, foreign.id],
    Date.now(),
  );
  const again = await stores.second.revocation.stampRevoked(world.principal.did, [grant.id], Date.now());
  expect([...first.keys()]).toEqual([grant.id]);
  expect(again).toEqual(first);
  const found = await stores.first.grants.find(grant.id);
  expect(found).toMatchObject({
    revokedAtMs: first.get(grant.id),
    revocationRecordedAtMs: first.get(grant.id),
  });
});

it('commits under an isolation level other than READ COMMITTED are refused', async () => {
  const repeatable = withSession(stores.url, async (session) => {
    await session.query('begin isolation level repeatable read');
    await session.query(`select svc_commit_decisions('{}', '{}')`);
  });
  await expect(repeatable).rejects.toThrow('READ COMMITTED only');
});

it('a commit sets synchronous_commit to on where it is off, and keeps other settings', async () => {
  await withSession(stores.url, async (session) => {
    const settingAfterCommitUnder = async (setting: string) => {
      await session.query(`begin; set local synchronous_commit = ${setting}`);
      await session.query(`select svc_commit_decisions('{}', '{}')`);
      const { rows } = await session.query('show synchronous_commit');
      await session.query('rollback');
      return rows[0].synchronous_commit;
    };
    expect(await settingAfterCommitUnder('off')).toBe('on');
    for (const setting of ['local', 'remote_apply'])
      expect(await settingAfterCommitUnder(setting)).toBe(setting);
  });
});
