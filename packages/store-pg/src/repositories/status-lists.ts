/** Status lists: the credential exactly as signed, and the counter its entries are allocated from (protocol §9). */
import type { StatusListRecord, StatusListRepository } from '@svc/service';
import type { Database } from '../database.ts';
import { afterLock } from '../locks.ts';

const columns = `url, principal, domain, number, size_bits as "sizeBits", next_ordinal as "nextOrdinal",
  permutation_key as "permutationKey", bits, credential, credential_hash as "credentialHash",
  valid_from as "validFromMs", version`;

const insertSql = `
  insert into status_lists (url, principal, domain, number, size_bits, permutation_key, bits, credential, credential_hash, valid_from)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, to_timestamp($10 / 1000.0))`;

// The condition on the counter is checked again after waiting for the row: an ordinal is never taken twice.
const takeOrdinalSql = `
  update status_lists set next_ordinal = next_ordinal + 1
  where url = (select url from status_lists where principal = $1 order by number desc limit 1)
    and next_ordinal < least(size_bits, $2::integer) and not is_closed
  returning url, next_ordinal - 1 as ordinal, size_bits as "sizeBits", permutation_key as "permutationKey"`;

const updateSql = `
  update status_lists set bits = $2, credential = $3, credential_hash = $4,
    valid_from = to_timestamp($5 / 1000.0), version = version + 1
  where url = $1`;

type TakenOrdinal = NonNullable<Awaited<ReturnType<StatusListRepository['takeOrdinal']>>>;

export function statusListRepository(database: Database): StatusListRepository {
  return {
    async insert(list) {
      await database.write({
        text: insertSql,
        values: [
          list.url,
          list.principal,
          list.domain,
          list.number,
          list.sizeBits,
          list.permutationKey,
          list.bits,
          list.credential,
          list.credentialHash,
          list.validFromMs,
        ],
      });
    },
    async takeNumber(domain) {
      const text = `select greatest(
            (select max(number) from status_lists where domain = $1),
            (select max(number) from released_status_lists where domain = $1),
            (select max(least_list_number) - 1 from restores),
            0) + 1 as number`;
      const [row] = await afterLock(database, 'statusListNumber', domain, () =>
        database.write<{ number: number }>({ text, values: [domain] }),
      );
      return row?.number ?? 1;
    },
    async findByUrl(url) {
      const rows = await database.read<StatusListRecord>({
        text: `select ${columns} from status_lists where url = $1`,
        values: [url],
      });
      return rows[0] ?? null;
    },
    async findForUpdate(url) {
      const rows = await database.write<StatusListRecord>({
        text: `select ${columns} from status_lists where url = $1 for update`,
        values: [url],
      });
      return rows[0] ?? null;
    },
    async listUrlsByHeader(headers, after, limit) {
      const rows = await database.read<{ url: string }>({
        text: `select url from status_lists where split_part(credential, '.', 1) = any ($1) and url > $2
          order by url limit $3`,
        values: [headers, after, limit],
      });
      return rows.map(({ url }) => url);
    },
    async takeOrdinal(principal, atMost) {
      const rows = await database.write<TakenOrdinal>({
        text: takeOrdinalSql,
        values: [principal, atMost ?? null],
      });
      return rows[0] ?? null;
    },
    async update(list) {
      await database.write({
        text: updateSql,
        values: [list.url, list.bits, list.credential, list.credentialHash, list.validFromMs],
      });
    },
  };
}
