/** Beats of the lineage, and what is noted to be kept outside (protocol §10). */
import type { Beat, FenceNote, LineageStore } from '@svc/service';
import type { Database } from './database.ts';

const beatSql = `
  select verdict, seq, at_ms as "atMs", age_ms as "ageMs", epoch, quarantine_ms as "quarantineMs"
  from svc_beat($1, $2, $3)`;

const listNotesSql = `
  select kind, name, version, svc_kept_text(kind, name) as text
  from fence_notes order by kind desc, name limit $1`;

// What is being changed is left for the next time.
const forgetNotesSql = `
  delete from fence_notes where (kind, name, version) in (
    select kind, name, version from fence_notes
    where (kind, name, version) in (select * from unnest($1::text[], $2::text[], $3::bigint[]))
    for update skip locked)`;

export const lineageStore = (database: Database): LineageStore => ({
  async beat(head, nextNonce) {
    const values = [head?.seq ?? null, head?.nonce ?? null, nextNonce];
    const [row] = await database.write<Beat>({ name: 'beat', text: beatSql, values });
    if (row === undefined) throw new Error('a beat answered no row');
    return row;
  },
  listNotes: (limit) => database.read<FenceNote>({ text: listNotesSql, values: [limit] }),
  async forgetNotes(notes) {
    const values = [
      notes.map(({ kind }) => kind),
      notes.map(({ name }) => name),
      notes.map(({ version }) => version),
    ];
    await database.write({ text: forgetNotesSql, values });
  },
});
