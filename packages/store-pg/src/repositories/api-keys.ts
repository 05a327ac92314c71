/** API keys by the SHA-256 of their value; the value itself is never stored (protocol §13). */
import type { ApiKeyRecord, ApiKeyRepository, KnownApiKey } from '@svc/service';
import type { Database } from '../database.ts';
import { afterLock } from '../locks.ts';
import type { Statement } from '../statement.ts';
import { isNewcomerSql } from './newcomers.ts';

const columnsOf = (keys: string) => `encode(${keys}.key_hash, 'hex') as "keyHash", ${keys}.key_id as "keyId",
  ${keys}.role, ${keys}.subject, ${keys}.label, ${keys}.created_at as "createdAtMs", ${keys}.revoked_at as "revokedAtMs"`;

const columns = columnsOf('api_keys');

const knownKeySql = `
  select ${columnsOf('k')}, p.org_id as "principalOrgId",
    case when k.role in ('org:read', 'org:admin', 'principal') then ${isNewcomerSql('coalesce(p.org_id, k.subject)')}
      else false end as "isNewcomer"
  from api_keys k left join principals p on k.role = 'principal' and p.did = k.subject
  where k.key_hash =`;

/**
 * PostgreSQL keeps the plan for a single key, the usual case. For a list it plans each time, which takes longer than
 * the rest.
 */
const findByHashesStatement = (hashes: readonly Buffer[]): Statement =>
  hashes.length === 1
    ? { name: 'find_api_key', text: `${knownKeySql} $1`, values: hashes }
    : { name: 'find_api_keys', text: `${knownKeySql} any ($1::bytea[])`, values: [hashes] };

const listSql = `
  select ${columns} from api_keys
  where subject = any ($1::text[]) and role = any ($2::text[]) and revoked_at is null
  union all (
    select revoked.* from unnest($1::text[]) as of(subject), lateral (
      select ${columns} from api_keys
      where api_keys.subject = of.subject and role = any ($2::text[]) and revoked_at is not null
      order by revoked_at desc, key_id limit $3
    ) as revoked
    order by "revokedAtMs" desc, "keyId" limit $3
  )
  order by "createdAtMs" desc, "keyId"`;

const revokeSql = `
  update api_keys set revoked_at = svc_now()
  where subject = $1 and key_id = $2 and revoked_at is null returning ${columns}`;

export function apiKeyRepository(database: Database): ApiKeyRepository {
  return {
    async insert(key) {
      const [row] = await database.write<ApiKeyRecord>({
        text: `insert into api_keys (key_hash, key_id, role, subject, label)
          values (decode($1, 'hex'), $2, $3, $4, $5) returning ${columns}`,
        values: [key.keyHash, key.keyId, key.role, key.subject, key.label],
      });
      if (row === undefined) throw new Error('insert answered no row');
      return row;
    },
    async findByHashes(keyHashes) {
      const hashes = keyHashes.map((keyHash) => Buffer.from(keyHash, 'hex'));
      const rows = await database.read<KnownApiKey>(findByHashesStatement(hashes));
      const found = new Map(rows.map((row) => [row.keyHash, row]));
      return keyHashes.map((keyHash) => found.get(keyHash) ?? null);
    },
    async findById(keyId) {
      const rows = await database.read<ApiKeyRecord>({
        text: `select ${columns} from api_keys where key_id = $1`,
        values: [keyId],
      });
      return rows[0] ?? null;
    },
    list: (subjects, roles, maxRevoked) =>
      database.read<ApiKeyRecord>({ text: listSql, values: [subjects, roles, maxRevoked] }),
    async findNewestLive(subject, role) {
      const rows = await database.read<ApiKeyRecord>({
        text: `select ${columns} from api_keys
          where subject = $1 and role = $2 and revoked_at is null order by created_at desc, key_id limit 1`,
        values: [subject, role],
      });
      return rows[0] ?? null;
    },
    async countLiveForUpdate(subjects, roles) {
      const text = `select count(*)::integer as live from api_keys
          where subject = any ($1::text[]) and role = any ($2::text[]) and revoked_at is null`;
      const [row] = await afterLock(database, 'counts', subjects[0], () =>
        database.write<{ live: number }>({ text, values: [subjects, roles] }),
      );
      return row?.live ?? 0;
    },
    async lockLive(keyHash) {
      const rows = await database.write({
        text: `select from api_keys where key_hash = decode($1, 'hex') and revoked_at is null for share`,
        values: [keyHash],
      });
      return rows.length > 0;
    },
    async revokeAll(subject, role) {
      await database.write({
        text: 'update api_keys set revoked_at = svc_now() where subject = $1 and role = $2 and revoked_at is null',
        values: [subject, role],
      });
    },
    async revoke(subject, keyId) {
      const rows = await database.write<ApiKeyRecord>({ text: revokeSql, values: [subject, keyId] });
      return rows[0] ?? null;
    },
  };
}
