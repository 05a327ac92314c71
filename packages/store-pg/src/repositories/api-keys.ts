/** API keys by the SHA-256 of their value; the value itself is never stored (protocol §13). */
import type { ApiKeyRecord, ApiKeyRepository, KnownApiKey } from '@svc/service';
import type { Database } from '../database.ts';

const columns = `encode(key_hash, 'hex') as "keyHash", key_id as "keyId", role, subject, label,
  created_at as "createdAtMs", revoked_at as "revokedAtMs"`;

const findByHashesSql = `
  select ${columns}, (
      select p.org_id from principals p where k.role = 'principal' and p.did = k.subject
    ) as "principalOrgId"
  from api_keys k where key_hash = any ($1::bytea[])`;

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
      const rows = await database.read<KnownApiKey>({
        name: 'find_api_keys',
        text: findByHashesSql,
        values: [keyHashes.map((keyHash) => Buffer.from(keyHash, 'hex'))],
      });
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
    list: (subject) =>
      database.read<ApiKeyRecord>({
        text: `select ${columns} from api_keys where subject = $1 order by created_at desc, key_id`,
        values: [subject],
      }),
    async countLiveForUpdate(subject, roles) {
      // Two statements: keys that were waited for are counted.
      await database.write({ text: 'select pg_advisory_xact_lock(10, hashtext($1))', values: [subject] });
      const [row] = await database.write<{ live: number }>({
        text: `select count(*)::integer as live from api_keys
          where subject = $1 and role = any ($2::text[]) and revoked_at is null`,
        values: [subject, roles],
      });
      return row?.live ?? 0;
    },
    async holdLive(keyHash) {
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
