/** The public key of each kid of the service, and when the key ended. Both tables are append-only. */
import type { ServiceKeyRecord, ServiceKeyRepository } from '@svc/service';
import type { Database } from '../database.ts';

const LIST = `
  select k.kid, k.public_key as "publicKeyMultibase", svc_ms(k.first_seen_at) as "firstSeenAtMs",
    svc_ms(max(e.ended_at) filter (where e.state = 'retired')) as "retiredAtMs",
    svc_ms(max(e.ended_at) filter (where e.state = 'compromised')) as "compromisedAtMs"
  from service_keys k left join service_key_ends e using (kid)
  group by k.kid order by k.kid`;

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

    async end(kid, how) {
      await database.write({
        text: 'insert into service_key_ends (kid, state) values ($1, $2) on conflict do nothing',
        values: [kid, how],
      });
    },

    list: () => database.read<ServiceKeyRecord>({ text: LIST, values: [] }),
  };
}
