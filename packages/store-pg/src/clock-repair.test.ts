/** What a repair of the clock does to everything that is dated, and to cold days. */
import { packDays } from '@svc/cold-ledger';
import { tamper } from '@svc/testkit';
import { createColdWorld, DUE, packingOf } from '@svc/testkit/store/cold-world';
import { withObjectFolders } from '@svc/testkit/store/object-folders';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { expect, it } from 'vitest';
import { repairClock } from './clock-repair.ts';

const stores = withStores();
const openFolder = withObjectFolders();

/** By the reason for which they are left (docs/operations.md, "What stays dated ahead until its time has come"). */
const LEFT: Readonly<Record<string, readonly string[]>> = {
  'it was signed, answered or published': [
    ...['agents.created_at', 'agents.disabled_at', 'api_keys.created_at', 'api_keys.revoked_at'],
    ...['attestations.evaluated_at', 'attestations.recorded_at', 'audit_events.occurred_at'],
    ...['consumption_balances.updated_at', 'consumption_events.recorded_at', 'entitlements.updated_at'],
    ...['event_log.occurred_at', 'event_outbox.occurred_at', 'event_subscriptions.created_at'],
    ...['grants.revoked_at', 'receipts.evaluated_at', 'status_lists.valid_from'],
    ...['restores.lost_from', 'restores.lost_until', 'restores.quarantined_until', 'restores.restored_at'],
  ],
  'what was decided and asked for before that time is not shown to the holder': [
    ...['orgs.created_at', 'principals.created_at', 'relying_parties.created_at'],
    'released_status_lists.released_at',
  ],
  'the caller has named it': [
    ...['approval_requests.approved_until', 'entitlements.cap_since', 'entitlements.production_until'],
  ],
  'the claim or trial ends later': [
    ...['contesting_claims.expires_at', 'principals.claim_expires_at', 'relying_parties.claim_expires_at'],
  ],
  'the pause applies at once': ['pauses.changed_at', 'pauses.visible_at'],
  'the window of a budget ends later': [
    ...['consumption_balances.period_start', 'consumption_events.period_start'],
  ],
  'the Proof stays spent for longer': ['spent_proofs.expires_at'],
  'the next beat or copy of the fence replaces it': ['fence_beats.at', 'fence_notes.noted_at'],
  'nothing waits for it': [
    ...['checkpoints.created_at', 'closed_days.closed_at', 'retracted_checkpoints.retracted_at'],
    ...['cold_days.recorded_at', 'cold_days.dropped_at', 'cold_days.cleared_at'],
    ...['cold_manifests.recorded_at', 'cold_manifests.purged_at', 'evidence.created_at'],
    ...['principal_keys.created_at', 'principal_keys.compromise_visible_at', 'service_dids.since'],
    ...['migrations.ran_at', 'replica_marks.server', 'self_serve_tenants.created_at'],
  ],
};

interface Dated {
  readonly table: string;
  readonly column: string;
}

const listDated = () =>
  runSql<Dated>(
    stores.url,
    `select table_name as "table", column_name as "column" from information_schema.columns
     where table_schema = 'public' and data_type = 'timestamp with time zone'
       and table_name in (select relname from pg_class where relkind in ('r', 'p') and not relispartition)`,
  );

/** The statements of the repair, and of the functions that it calls. */
const listStatements = async (): Promise<readonly string[]> => {
  const functions = await runSql<{ name: string; text: string }>(
    stores.url,
    `select proname as name, prosrc as text from pg_proc where pronamespace = 'public'::regnamespace`,
  );
  const called = new Set(['svc_repair_clock']);
  for (const name of called)
    for (const { text } of functions.filter((one) => one.name === name))
      for (const other of functions) if (text.includes(`${other.name}(`)) called.add(other.name);
  return functions.filter(({ name }) => called.has(name)).flatMap(({ text }) => text.split(';'));
};

it('puts right every column that may be dated ahead, but for those that are left for a reason', async () => {
  const statements = await listStatements();
  const isRewound = ({ table, column }: Dated) =>
    statements.some(
      (text) => new RegExp(`\\bupdate ${table}\\b`).test(text) && new RegExp(`[\\s,]${column} =`).test(text),
    );
  const left = (await listDated()).filter((one) => !isRewound(one));
  expect(left.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(
    Object.values(LEFT).flat().sort(),
  );
});

it('dates cold days by now: each is proven again, tried again, and kept beside the ledger for its time', async () => {
  await createColdWorld(stores.url, stores.first);
  await packDays(packingOf(stores.url, stores.first, await openFolder()), new AbortController().signal);
  const ahead = `now() + interval '1 year'`;
  await tamper(
    stores.url,
    `update cold_days set detached_at = ${ahead}, proven_at = ${ahead};
     update cold_days set problem = 'not read', again_at = ${ahead} where day = '${DUE[0]}';
     insert into cold_manifests (manifest_hash, day, manifest, recorded_at, replaced_at)
       select 'sha256:' || repeat('0', 64), day, manifest, recorded_at, ${ahead} from cold_days where day = '${DUE[0]}'`,
  );
  const { coldDays } = stores.first;
  await repairClock(stores.url, Date.now());
  expect(await coldDays.oldestProofMs()).toBeLessThanOrEqual(Date.now());
  expect([...(await coldDays.listToProve(0, 10, Date.now()))].sort()).toEqual(DUE);
  expect(
    await runSql(stores.url, 'select from cold_days where greatest(detached_at, again_at) > now()'),
  ).toEqual([]);
  expect(await runSql(stores.url, 'select from cold_manifests where replaced_at > now()')).toEqual([]);
  await expect(runSql(stores.url, 'update cold_manifests set replaced_at = now()')).rejects.toThrow(
    /refused/,
  );
});
