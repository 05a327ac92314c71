/** Days that are packed, or could not be packed. What is recorded of a day stays (a trigger refuses other changes). */
import type {
  BrokenDay,
  CheckpointRecord,
  ColdDayRepository,
  ColdManifest,
  Day,
  DayPlace,
  DayState,
  HashedManifest,
  NamedManifest,
} from '@svc/service';
import { type Database, readValue, writeValue } from '../database.ts';
import { FORGOTTEN_HOURS } from '../retention-store.ts';
import { checkpointColumns } from './checkpoints.ts';

const recordSql = `
  insert into cold_days (day, state, manifest, manifest_hash) values ($1, 'recorded', $2, $3)
  on conflict (day) do update
    set state = excluded.state, manifest = excluded.manifest, manifest_hash = excluded.manifest_hash, problem = null,
      recorded_at = excluded.recorded_at, proven_at = null, again_at = null
    where cold_days.state = 'broken' or ($4 and cold_days.state = 'unpacked')
  returning true as "isRecorded"`;

const markBrokenSql = `
  insert into cold_days (day, state, problem, again_at) values ($1, 'broken', $2, svc_now() + make_interval(hours => $3))
  on conflict (day) do update
    set problem = excluded.problem, recorded_at = excluded.recorded_at, again_at = excluded.again_at
    where cold_days.state = 'broken'`;

/** After a failure the next try is delayed, and not made in each round. */
const isTriedSql = '(again_at is null or again_at < svc_now())';

/** A day that is due for clearing is cleared before it is compared. */
const isClearedSql = (node: string) => `day not in (select svc_days_to_clear(${node}, null))`;

const isOverSql = `state = 'cold' and dropped_at is null and ${isTriedSql} and ${isClearedSql('$3')}
  and detached_at < least(svc_now(), svc_instant($3)) - make_interval(days => greatest($2::integer, 1))`;

/** A repeated request is answered with a Receipt of the ledger, and no Proof is spent without one. */
const toDetachSql = `state = 'recorded' and ${isTriedSql} and ${isClearedSql('$2')}
  and (day + 1)::timestamp at time zone 'UTC' < least(svc_now(), svc_instant($2)) - interval '${FORGOTTEN_HOURS} hours'`;

const toPackSql = `
  select ${checkpointColumns} from checkpoints join content_checks as k using (day) left join cold_days as d using (day)
  where day = $1 and k.is_intact and k.checked_at > svc_now() - interval '36 hours'
    and (d.day is null or d.state in ('broken', 'unpacked'))
    and not exists (select from restores as r where checkpoints.day = any (r.reinstated_days))
    and svc_is_day_read(day)`;

const IS_COLD = `state = 'cold'`;

/** A day that came back depends on no objects, whatever the state of its former ones. */
const RESTS_ON_OBJECTS = `state in ('recorded', 'cold')`;

const noteSql = `
  update cold_days set problem = $2, proven_at = case when $2::text is null then svc_now() else proven_at end,
    again_at = case when $2::text is not null then svc_now() + interval '1 hour' end
  where day = $1`;

/** Failed days have a limit of their own, so neither kind delays the other. */
const toProveSql = `
  (select day::text as day from cold_days
    where ${IS_COLD} and problem is null and coalesce(proven_at, detached_at) < svc_now() - make_interval(days => $1)
    order by coalesce(proven_at, detached_at) limit $2)
  union all
  (select day::text from cold_days
    where ${RESTS_ON_OBJECTS} and problem is not null and ${isTriedSql} and ${isClearedSql('$3')}
    order by again_at nulls first limit $2)`;

const statesSql = `
  select p.day::text as day, coalesce(d.state, 'hot') as state, d.problem, svc_ms(d.proven_at) as "provenAtMs",
    case when d.dropped_at is null then svc_ms(d.detached_at) end as "detachedAtMs",
    p.day in (select svc_days_to_clear((extract(epoch from svc_now()) * 1000)::bigint, null)) as "isUncleared",
    coalesce(
      pg_total_relation_size(to_regclass(case when d.state = 'cold' then 'detached_' else '' end
        || 'receipts_' || to_char(p.day, 'YYYYMMDD'))), 0)::float8 as bytes
  from checkpoints as p left join cold_days as d using (day)
  order by p.day`;

const toPurgeSql = `
  select f.day::text as day, f.manifest_hash as "manifestHash" from cold_manifests as f join cold_days as d using (day)
  where f.purged_at is null and d.state in ('recorded', 'cold', 'unpacked') and ${isTriedSql}
    and f.replaced_at < least(svc_now(), svc_instant($2)) - make_interval(days => greatest($1::integer, 1))
  order by f.replaced_at limit $3`;

const manifestsSql = `
  select manifest, manifest_hash as "manifestHash", true as "isCurrent", false as "isPurged" from cold_days
    where day = $1 and manifest is not null
  union all
  select manifest, manifest_hash, false, purged_at is not null from cold_manifests where day = $1`;

/** Sessions that hold locks of the ledger, or of this day's part of it. */
export const holdersSql = `
  select concat_ws(' ', coalesce(a.backend_type, 'session'), nullif(a.application_name, ''), a.state, string_agg(distinct l.mode, ', '),
    'for ' || round(extract(epoch from clock_timestamp() - a.xact_start)) || ' s') as holder
  from pg_locks as l join pg_stat_activity as a using (pid)
  where l.granted and l.locktype = 'relation' and l.database = (select oid from pg_database where datname = current_database())
    and l.relation in ('receipts'::regclass, to_regclass('receipts_' || to_char($1::date, 'YYYYMMDD'))) and l.pid != pg_backend_pid()
  group by l.pid, a.backend_type, a.state, a.xact_start, a.application_name order by a.xact_start limit 10`;

export function coldDayRepository(database: Database): ColdDayRepository {
  const daysOf = async (text: string, values: readonly unknown[]): Promise<Day[]> =>
    (await database.read<{ day: Day }>({ text, values })).map(({ day }) => day);
  const listDays = (where: string, values: readonly unknown[]): Promise<Day[]> =>
    daysOf(`select day::text as day from cold_days where ${where} order by cold_days.day limit $1`, values);
  const isDone = async (text: string, values: readonly unknown[]): Promise<boolean> =>
    (await writeValue<boolean>(database, text, values)) ?? false;
  return {
    listDue: (hotDays, nowMs, limit) =>
      database.read<CheckpointRecord>({
        text: `select ${checkpointColumns} from checkpoints
          where day = any (array(select svc_days_to_pack($1, $2, $3))) order by checkpoints.day`,
        values: [hotDays, Math.floor(nowMs), limit],
      }),
    async record(day, { manifest, manifestHash }, why) {
      const values = [day, manifest, manifestHash, why === 'named'];
      return (await database.write<{ isRecorded: true }>({ text: recordSql, values })).length > 0;
    },
    async markBroken({ day, problem }, hours) {
      await database.write({ text: markBrokenSql, values: [day, problem, hours] });
    },
    async countCold() {
      const text = `select count(*)::integer as value from cold_days where state = 'cold'`;
      return (await readValue<number>(database, text)) ?? 0;
    },
    listBroken: () =>
      database.read<BrokenDay>({
        text: `select day::text as day, problem from cold_days where problem is not null order by cold_days.day`,
        values: [],
      }),
    async noteProof(day, problem) {
      await database.write({
        text: `${noteSql} and (${RESTS_ON_OBJECTS} or $2::text is null and state = 'unpacked')`,
        values: [day, problem],
      });
    },
    async noteUnread(day, manifestHash, problem) {
      const text = `update cold_days set problem = $3, again_at = null
        where day = $1 and manifest_hash = $2 and ${IS_COLD} and problem is null`;
      await database.write({ text, values: [day, manifestHash, problem] });
    },
    async noteFailure(day, problem) {
      await database.write({ text: `${noteSql} and state != 'broken'`, values: [day, problem] });
    },
    async findToPack(day) {
      return (await database.read<CheckpointRecord>({ text: toPackSql, values: [day] }))[0] ?? null;
    },
    listToProve: (days, limit, nowMs) => daysOf(toProveSql, [days, limit, Math.floor(nowMs)]),
    async oldestProofMs() {
      const text = `select svc_ms(min(coalesce(proven_at, detached_at))) as value from cold_days where ${IS_COLD}`;
      return (await readValue<number | null>(database, text)) ?? null;
    },
    listStates: () => database.read<DayState>({ text: statesSql, values: [] }),
    listToDetach: (limit, nowMs) => listDays(toDetachSql, [limit, Math.floor(nowMs)]),
    keepVerifiers: (day, limit) => isDone('select svc_keep_verifiers($1, $2) as value', [day, limit]),
    detach: (day) => isDone('select svc_detach_day($1) as value', [day]),
    async listHolders(day) {
      const rows = await database.read<{ holder: string }>({ text: holdersSql, values: [day] });
      return rows.map(({ holder }) => holder);
    },
    async mayDrop() {
      const text = `select has_function_privilege('svc_drop_detached_day(date, integer, bigint)', 'execute') as value`;
      return (await readValue<boolean>(database, text)) ?? false;
    },
    async findPlace(day) {
      const text = `select case when state != 'cold' then 'ledger' when dropped_at is null then 'kept' else 'objects' end as value
        from cold_days where day = $1`;
      return (await readValue<DayPlace>(database, text, [day])) ?? 'ledger';
    },
    listToDrop: (graceDays, nowMs, limit) => listDays(isOverSql, [limit, graceDays, Math.floor(nowMs)]),
    drop: (day, graceDays, nowMs) =>
      isDone('select svc_drop_detached_day($1, $2, $3) as value', [day, graceDays, Math.floor(nowMs)]),
    listToClear(nowMs, limit) {
      const text = `select day::text as day from svc_days_to_clear($1, null) as day join cold_days using (day)
        where ${isTriedSql} order by cold_days.day limit $2`;
      return daysOf(text, [Math.floor(nowMs), limit]);
    },
    clearTable: (day, limit, nowMs) =>
      isDone('select svc_clear_table_of_day($1, $2, $3) as value', [day, limit, Math.floor(nowMs)]),
    recordCleared: (day, { manifest, manifestHash }, nowMs) =>
      isDone('select svc_record_cleared_day($1, $2, $3, $4) as value', [
        day,
        manifest,
        manifestHash,
        Math.floor(nowMs),
      ]),
    listToPurge: (graceDays, nowMs, limit) =>
      database.read<HashedManifest>({ text: toPurgeSql, values: [graceDays, Math.floor(nowMs), limit] }),
    listManifests: (day) => database.read<NamedManifest>({ text: manifestsSql, values: [day] }),
    notePurged: (manifestHash, graceDays, nowMs) =>
      isDone('select svc_note_purged($1, $2, $3) as value', [manifestHash, graceDays, Math.floor(nowMs)]),
    listLatestManifests(limit) {
      const text = `select day::text as day, manifest_hash as "manifestHash" from cold_days
        where state in ('recorded', 'cold') order by recorded_at desc, cold_days.day desc limit $1`;
      return database.read<HashedManifest>({ text, values: [limit] });
    },
    async findManifest(day) {
      const text = `select manifest, manifest_hash as "manifestHash" from cold_days where day = $1 and manifest is not null`;
      return (await database.read<ColdManifest>({ text, values: [day] }))[0] ?? null;
    },
  };
}
