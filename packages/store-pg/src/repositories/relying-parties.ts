/** Relying Parties (interface §RelyingParty). */
import type { DidWeb } from '@svc/protocol';
import type { RelyingPartyRecord, RelyingPartyRepository } from '@svc/service';
import type { Database } from '../database.ts';

const columns = `did, kind, slug, name, proof_window_seconds as "proofWindowSeconds",
  verify_rate_limit_per_minute as "verifyRateLimitPerMinute", profile, org_id as "orgId",
  claim_expires_at as "claimExpiresAtMs", verification_token as "verificationToken",
  created_at as "createdAtMs", version`;

const insertSql = `
  insert into relying_parties (did, kind, slug, name, proof_window_seconds, verify_rate_limit_per_minute, profile, org_id,
    claim_expires_at, verification_token)
  values ($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9::bigint / 1000.0), $10) returning ${columns}`;

const updateSql = `
  update relying_parties set
    name = coalesce($2, name),
    proof_window_seconds = coalesce($3, proof_window_seconds),
    verify_rate_limit_per_minute = coalesce($4, verify_rate_limit_per_minute),
    profile = coalesce($5, profile),
    version = version + 1
  where did = $1 returning ${columns}`;

export function relyingPartyRepository(database: Database): RelyingPartyRepository {
  const findLocked = async (
    did: string,
    strength: 'update' | 'share',
  ): Promise<RelyingPartyRecord | null> => {
    const rows = await database.write<RelyingPartyRecord>({
      text: `select ${columns} from relying_parties where did = $1 for ${strength}`,
      values: [did],
    });
    return rows[0] ?? null;
  };
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
          rp.claimExpiresAtMs ?? null,
          rp.verificationToken ?? null,
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
    findForUpdate: (did) => findLocked(did, 'update'),
    findForShare: (did) => findLocked(did, 'share'),
    async endClaim(did) {
      await database.write({
        text: 'update relying_parties set claim_expires_at = null, version = version + 1 where did = $1',
        values: [did],
      });
    },
    async release(did) {
      await database.write({ text: 'select svc_release_relying_party($1)', values: [did] });
    },
    async transfer(did, orgId) {
      await database.write({
        text: `update relying_parties set org_id = $2, claim_expires_at = null, version = version + 1 where did = $1`,
        values: [did, orgId],
      });
    },
    async listExpiredClaims(limit) {
      const rows = await database.read<{ did: DidWeb }>({
        text: `select did from relying_parties where claim_expires_at <= svc_now() order by claim_expires_at limit $1`,
        values: [limit],
      });
      return rows.map(({ did }) => did);
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
