/** Artifacts by the SHA-256 of their bytes; the database checks the hash itself. */
import type { EvidenceRecord, EvidenceRepository } from '@svc/service';
import { type Database, writeValue } from '../database.ts';

export function evidenceRepository(database: Database): EvidenceRepository {
  return {
    async insert(evidence) {
      await database.write({
        text: `insert into evidence (hash, content_type, body) values ($1, $2, $3) on conflict (hash) do nothing`,
        values: [evidence.hash, evidence.contentType, evidence.body],
      });
    },
    async insertLoose({ hash, contentType, body }) {
      await database.write({
        text: 'select svc_put_loose_evidence($1, $2, $3)',
        values: [hash, contentType, body],
      });
    },
    async keepServedList(url, hash, nowMs) {
      await database.write({ text: 'select svc_keep_served_list($1, $2, $3)', values: [url, hash, nowMs] });
    },
    async nameFromReceipts(limit) {
      const text = 'select svc_name_evidence($1) as value';
      return (await writeValue<number>(database, text, [limit])) ?? 0;
    },
    async collect(limit, nowMs) {
      const text = 'select svc_collect_evidence($1, $2) as value';
      return (await writeValue<number>(database, text, [limit, nowMs])) ?? 0;
    },
    async find(hash) {
      const rows = await database.read<EvidenceRecord>({
        text: `select hash, content_type as "contentType", body from evidence where hash = $1`,
        values: [hash],
      });
      return rows[0] ?? null;
    },
  };
}
