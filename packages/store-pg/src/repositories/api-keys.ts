/** API keys by the SHA-256 of their value; the value itself is never stored (protocol §13). */
import type { ApiKeyRecord, ApiKeyRepository } from '@svc/service';
import type { Database } from '../database.ts';

const columns = `encode(key_hash, 'hex') as "keyHash", key_id as "keyId", role, subject, label,
  created_at as "createdAtMs", revoked_at as "revokedAtMs"`;

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
    async findByHash(keyHash) {
      const rows = await database.read<ApiKeyRecord>({
        name: 'find_api_key',
        text: `select ${columns} from api_keys where key_hash = decode($1, 'hex')`,
        values: [keyHash],
      });
      return rows[0] ?? null;
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
    async holdLive(keyHash) {
      const rows = await database.write({
        text: `select from api_keys where key_hash = decode($1, 'hex') and revoked_at is null for share`,
        values: [keyHash],
      });
      return rows.length > 0;
    },
    async revoke(subject, keyId) {
      const rows = await database.write<ApiKeyRecord>({ text: revokeSql, values: [subject, keyId] });
      return rows[0] ?? null;
    },
  };
}
