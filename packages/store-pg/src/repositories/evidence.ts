/** Artifacts by the SHA-256 of their bytes; the database checks the hash itself. */
import type { EvidenceRecord, EvidenceRepository } from '@svc/service';
import type { Database } from '../database.ts';

export function evidenceRepository(database: Database): EvidenceRepository {
  return {
    async insert(evidence) {
      await database.write({
        text: `insert into evidence (hash, content_type, body) values ($1, $2, $3) on conflict (hash) do nothing`,
        values: [evidence.hash, evidence.contentType, evidence.body],
      });
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
