/** Which public key each kid of the service names. The table is append-only. */
import type { ServiceKeyRepository } from '@svc/service';
import type { Database } from '../database.ts';

export function serviceKeyRepository(database: Database): ServiceKeyRepository {
  return {
    async remember(kid, publicKeyMultibase) {
      // Waits for another insert of the same kid to be committed, so that the select below sees it.
      await database.write({
        text: 'insert into service_keys (kid, public_key) values ($1, $2) on conflict (kid) do nothing',
        values: [kid, publicKeyMultibase],
      });
      const [row] = await database.read<{ publicKey: string }>({
        text: 'select public_key as "publicKey" from service_keys where kid = $1',
        values: [kid],
      });
      if (row === undefined) throw new Error('an inserted service key is not there');
      return row.publicKey;
    },
  };
}
