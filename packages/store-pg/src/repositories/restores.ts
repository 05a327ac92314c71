/** Restores of this database to an earlier state (protocol §10). */
import type { FenceHead, RestoreRecord, RestoreRepository, UnrevokedGrant } from '@svc/service';
import { type Database, readValue } from '../database.ts';
import { LOCK_SPACES } from '../locks.ts';
import { checkpointValues } from './checkpoints.ts';

const columns = `epoch, lost_from as "lostFromMs", lost_until as "lostUntilMs",
  quarantined_until as "quarantinedUntilMs", reinstated_days::text[] as "reinstatedDays",
  least_list_number as "leastListNumber", statement, restored_at as "restoredAtMs"`;

const insertSql = `
  insert into restores (epoch, lost_from, lost_until, quarantined_until, reinstated_days, least_list_number, statement)
  values ($1, to_timestamp($2 / 1000.0), to_timestamp($3 / 1000.0), to_timestamp($4 / 1000.0), $5::date[], $6, $7)`;

// The time of the latest beat, or of the ledger's seal where the database never had a fence.
const knownUntilSql = `
  select svc_ms(coalesce((select at from fence_beats order by seq desc limit 1), (select sealed_until from ledger_seal))) as value`;

// An existing beat may already be the one that the fence names.
const adoptSql = `
  insert into fence_beats (seq, nonce, at)
  select greatest($1, coalesce(max(seq), 0) + 1), $2, to_timestamp($3 / 1000.0) from fence_beats
  returning seq`;

const reinstateSql = `
  with closed as (
    insert into closed_days (day) values ($1::date) on conflict do nothing
  )
  insert into checkpoints (day, tree_size, root, previous_day, previous_root, first_receipt_id, last_receipt_id,
    kid, jws, hash, content_root)
  values ($1::date, $2, $3, case when $4::text is not null then $1::date - 1 end, $4, $5, $6, $7, $8, $9, $10)`;

export function restoreRepository(database: Database): RestoreRepository {
  const write = async (text: string, values: readonly unknown[]): Promise<void> => {
    await database.write({ text, values });
  };
  return {
    list: () =>
      database.read<RestoreRecord>({ text: `select ${columns} from restores order by epoch`, values: [] }),
    async knownUntilMs() {
      return (await readValue<number>(database, knownUntilSql)) ?? 0;
    },
    async isKnownHead({ seq, nonce }) {
      const text = 'select seq from fence_beats where seq = $1 and nonce = $2';
      return (await database.read({ text, values: [seq, nonce] })).length > 0;
    },
    async findLast() {
      const text = `select coalesce((select max(epoch) from restores), 0) as epoch,
        coalesce((select min(seq) from fence_beats), 0) as "firstSeq",
        coalesce((select max(seq) from fence_beats), 0) as seq,
        (select extract(epoch from clock_timestamp() - at)::float8 * 1000 from fence_beats order by seq desc limit 1) as "ageMs"`;
      const [row] = await database.read<Awaited<ReturnType<RestoreRepository['findLast']>>>({
        text,
        values: [],
      });
      return row ?? { epoch: 0, firstSeq: 0, seq: 0, ageMs: null };
    },
    insert: (restore) =>
      write(insertSql, [
        restore.epoch,
        restore.lostFromMs,
        restore.lostUntilMs,
        restore.quarantinedUntilMs,
        restore.reinstatedDays,
        restore.leastListNumber,
        restore.statement,
      ]),
    async adopt({ seq, nonce, atMs }: FenceHead) {
      // The lock of `svc_beat`: later statements see every beat that was made under it.
      await write('select pg_advisory_xact_lock($1, 0)', [LOCK_SPACES.counts]);
      const [row] = await database.write<{ seq: number }>({ text: adoptSql, values: [seq, nonce, atMs] });
      if (row === undefined) throw new Error('a beat was adopted without an answer');
      return row.seq;
    },
    quarantineUntil: (ms) =>
      write(
        'update fence_quarantine set quarantined_until = svc_instant($1) where quarantined_until < svc_instant($1)',
        [ms],
      ),
    async forgetLineage() {
      return (await database.write({ text: 'delete from fence_beats returning seq', values: [] })).length;
    },
    sealUntil: (ms) => write('select svc_seal_until(to_timestamp($1 / 1000.0))', [ms]),
    closeLists: () => write('update status_lists set is_closed = true where not is_closed', []),
    async highestListNumber() {
      const text = 'select coalesce(max(number), 0) as value from status_lists';
      return (await readValue<number>(database, text)) ?? 0;
    },
    listUnrevoked: (url) =>
      database.read<UnrevokedGrant>({
        text: `select id, status_index as index, (select org_id from principals where did = grants.principal) as "orgId" from grants
          where status_list_url = $1 and revocation_recorded_at is null order by id`,
        values: [url],
      }),
    async countRevoked(requestId, sinceMs) {
      const text = `select count(distinct target) as value from audit_events
        where action = 'grant.revoke' and request_id = $1 and occurred_at >= to_timestamp($2 / 1000.0)`;
      return (await readValue<number>(database, text, [requestId, sinceMs])) ?? 0;
    },
    raiseListVersion: (url, version) =>
      write('update status_lists set version = $2 where url = $1 and version < $2', [url, version]),
    async listWaitingVersions(kind) {
      const rows = await database.read<{ name: string; version: number }>({
        text: 'select name, svc_note_version(version) as version from fence_notes where kind = $1',
        values: [kind],
      });
      return new Map(rows.map(({ name, version }) => [name, version]));
    },
    async listUnknownNames(names) {
      const rows = await database.read<{ name: string }>({
        // Qualified: relying parties and orgs have a column `name` too.
        text: `select n.name from unnest($1::text[]) as n (name)
          where not exists (select from principals where did = n.name)
            and not exists (select from relying_parties where did = n.name)
            and not exists (select from orgs where 'org:' || slug = n.name)
          order by n.name`,
        values: [names],
      });
      return rows.map(({ name }) => name);
    },
    reserveNames: (names, epoch) =>
      write('insert into reserved_names (name, epoch) select unnest($1::text[]), $2 on conflict do nothing', [
        names,
        epoch,
      ]),
    async isKnownKey(kid) {
      const text = 'select kid from principal_keys where kid = $1';
      return (await database.read({ text, values: [kid] })).length > 0;
    },
    rememberKey: (principal, kid, publicKeyMultibase) =>
      write(
        'insert into principal_keys (kid, principal, public_key_multibase) values ($1, $2, $3) on conflict (kid) do nothing',
        [kid, principal, publicKeyMultibase],
      ),
    async revokeApiKey(keyId) {
      const rows = await database.write({
        text: 'update api_keys set revoked_at = svc_now() where key_id = $1 and revoked_at is null returning key_id',
        values: [keyId],
      });
      return rows.length > 0;
    },
    async isRetracted(hash) {
      const text = 'select hash from retracted_checkpoints where hash = $1';
      return (await database.read({ text, values: [hash] })).length > 0;
    },
    reinstate: (checkpoint) => write(reinstateSql, checkpointValues(checkpoint)),
    forgetDomains: () => write('select svc_forget_domains()', []),
    async extendClaims(untilMs) {
      for (const table of ['principals', 'relying_parties'])
        await write(
          `update ${table} set claim_expires_at = svc_instant($1) where claim_expires_at < svc_instant($1)`,
          [untilMs],
        );
    },
  };
}
