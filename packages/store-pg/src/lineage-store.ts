/** Beats of the lineage, and the notes to be copied outside the database (protocol §10). */
import type { Beat, FenceNote, LineageStore, WaitingNotes } from '@svc/service';
import { StoreClient } from './client.ts';
import { pooledDatabase } from './database.ts';
import type { DeadlinePool } from './deadline-pool.ts';
import { toStoreError } from './errors.ts';
import type { Standing } from './standing.ts';

const beatSql = `
  select verdict, seq, at_ms as "atMs", age_ms as "ageMs", epoch, quarantine_ms as "quarantineMs"
  from svc_beat($1, $2, $3)`;

const describeNotesSql = `
  select coalesce(max(seq), 0) as "lastSeq",
    greatest(coalesce(extract(epoch from clock_timestamp() - min(noted_at))::float8 * 1000, 0), 0) as "oldestAgeMs"
  from fence_notes`;

const listNotesSql = `
  select kind, name, version, seq, svc_ms(statement_timestamp()) as "listedAtMs", svc_kept_text(kind, name, version) as text
  from fence_notes
  where case kind when 'revoked' then seq > $1 else seq > $2 and seq <= $3 end
  order by kind <> 'revoked', seq limit $4`;

// Notes that another transaction is changing are skipped and left for the next call.
const forgetNotesSql = `
  with copied as (
    select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) as c (kind, name, version, listed_ms)
  ), held as (
    select n.kind, n.name, n.version = c.version as is_copied, c.listed_ms
    from fence_notes n join copied c using (kind, name)
    for update of n skip locked
  ), forgotten as (
    delete from fence_notes n using held h where (n.kind, n.name) = (h.kind, h.name) and h.is_copied
  )
  update fence_notes n set seq = default, noted_at = svc_instant(h.listed_ms)
  from held h where (n.kind, n.name) = (h.kind, h.name) and not h.is_copied`;

export const lineageStore = (pool: DeadlinePool, standing: Standing): LineageStore => {
  const database = pooledDatabase(pool, pool);
  /** The session that made the last beat. */
  let asked: StoreClient | null = null;
  return {
    async beat(head, nextNonce) {
      const values = [head?.seq ?? null, head?.nonce ?? null, nextNonce];
      standing.beginLook();
      try {
        return await pool.run(async (client) => {
          const { rows } = await client.query<Omit<Beat, 'server'>>({ name: 'beat', text: beatSql, values });
          const [row] = rows;
          if (row === undefined) throw new Error('a beat answered no row');
          asked = client instanceof StoreClient ? client : null;
          return { ...row, server: asked?.server ?? '' };
        });
      } catch (error) {
        throw toStoreError(error, 'stored');
      }
    },
    trust: (server) => standing.trust(server),
    doubt(server) {
      standing.doubt(server);
      // The next beat may reach another server.
      if (asked?.server !== server) return;
      asked.passBy();
      asked.destroy();
    },
    onUnknown: (ask) => standing.onUnknown(ask),
    async describeNotes() {
      const [row] = await database.read<WaitingNotes>({ text: describeNotesSql, values: [] });
      return row ?? { oldestAgeMs: 0, lastSeq: 0 };
    },
    listNotes: ({ revoked, others }, upTo, limit) =>
      database.read<FenceNote>({ text: listNotesSql, values: [revoked, others, upTo, limit] }),
    async forgetNotes(notes) {
      const values = [
        notes.map(({ kind }) => kind),
        notes.map(({ name }) => name),
        notes.map(({ version }) => version),
        notes.map(({ listedAtMs }) => listedAtMs),
      ];
      await database.write({ text: forgetNotesSql, values });
    },
  };
};
