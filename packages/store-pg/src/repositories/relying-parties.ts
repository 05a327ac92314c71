/** Relying Parties (interface §RelyingParty). */
import type { RelyingPartyRecord, RelyingPartyRepository } from '@svc/service';
import type { Database } from '../database.ts';

const columns = `did, kind, slug, name, proof_window_seconds as "proofWindowSeconds",
  verify_rate_limit_per_minute as "verifyRateLimitPerMinute", profile, org_id as "orgId",
  created_at as "createdAtMs", version`;

const insertSql = `
  insert into relying_parties (did, kind, slug, name, proof_window_seconds, verify_rate_limit_per_minute, profile, org_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${columns}`;

const updateSql = `
  update relying_parties set
    name = coalesce($2, name),
    proof_window_seconds = coalesce($3, proof_window_seconds),
    verify_rate_limit_per_minute = coalesce($4, verify_rate_limit_per_minute),
    profile = coalesce($5, profile),
    version = version + 1
  where did = $1 returning ${columns}`;

export function relyingPartyRepository(database: Database): RelyingPartyRepository {
  return {
    async insert(rp) {
      const [row] = await database.write<RelyingPartyRecord>({
        text: insertSql,
        values: [
          rp.did,
          rp.kind,
          rp.slug,
          rp.name,
          rp.proofWindowSeconds,
          rp.verifyRateLimitPerMinute,
          rp.profile,
          rp.orgId,
        ],
      });
      if (row === undefined) throw new Error('insert answered no row');
      return row;
    },
    async find(did) {
      const rows = await database.read<RelyingPartyRecord>({
        text: `select ${columns} from relying_parties where did = $1`,
        values: [did],
      });
      return rows[0] ?? null;
    },
    listOfOrg: (orgId) =>
      database.read<RelyingPartyRecord>({
        text: `select ${columns} from relying_parties where org_id = $1 order by did`,
        values: [orgId],
      }),
    async setOrg(did, orgId) {
      const rows = await database.write({
        text: `update relying_parties set org_id = $2, version = version + 1
          where did = $1 and org_id is null returning did`,
        values: [did, orgId],
      });
      return rows.length > 0;
    },
    async update(did, change) {
      const rows = await database.write<RelyingPartyRecord>({
        text: updateSql,
        values: [
          did,
          change.name,
          change.proofWindowSeconds,
          change.verifyRateLimitPerMinute,
          change.profile,
        ],
      });
      return rows[0] ?? null;
    },
  };
}
