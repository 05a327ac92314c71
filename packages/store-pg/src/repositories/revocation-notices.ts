/** Events that tell relying parties of the revocation of something that they have verified (0039-told-in-turn). */
import type { RevocationNoticeRepository } from '@svc/service';
import { type Database, writeValue } from '../database.ts';

export function revocationNoticeRepository(database: Database): RevocationNoticeRepository {
  return {
    async nextToTell(after) {
      const rows = await database.read<{ principal: string | null }>({
        text: 'select svc_next_to_tell($1) as principal',
        values: [after],
      });
      return rows[0]?.principal ?? null;
    },
    async tellVerifiers(principal, forMs) {
      const text = 'select svc_tell_verifiers($1, make_interval(secs => $2)) as value';
      return (await writeValue<boolean>(database, text, [principal, forMs / 1_000])) ?? false;
    },
  };
}
