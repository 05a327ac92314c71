/**
 * Tokens of orgs that contest a claim, and the number of open claims of an org
 * (migrations/0002-registry/02-claims.sql).
 */
import type { ClaimRepository } from '@svc/service';
import type { Database } from '../database.ts';

/** Claims of an org that are not proven yet. */
const openOf = (org: string) => `
  (select count(*) from principals where org_id = ${org} and claim_expires_at is not null)
  + (select count(*) from relying_parties where org_id = ${org} and claim_expires_at is not null)
  + (select count(*) from contesting_claims where org_id = ${org})`;

/** Whether the DID of an event audience is only claimed, in the class that the audience names. */
export const isOfClaimSql = (audience: string): string => `
  (exists (select from principals where did = substring(${audience} from '^principal (.+)$') and claim_expires_at is not null)
    or exists (select from relying_parties where did = substring(${audience} from '^rp (.+)$') and claim_expires_at is not null))`;

// An org that asks again keeps its first token, which it must have published by then. `findContesting` reads that token
// where nothing blocks the claim any more.
const contestSql = `
  insert into contesting_claims as c (did, kind, org_id, token, expires_at)
  select $1, $2, $3, $4, to_timestamp($5::bigint / 1000.0)
  where exists (select from contesting_claims where did = $1 and kind = $2 and org_id = $3) or ${openOf('$3')} < $6
  on conflict (did, kind, org_id) do update set expires_at = excluded.expires_at
  returning token`;

export const claimRepository = (database: Database): ClaimRepository => ({
  async contest({ did, kind, orgId, token, expiresAtMs }, maxOpen) {
    const [row] = await database.write<{ token: string }>({
      text: contestSql,
      values: [did, kind, orgId, token, expiresAtMs, maxOpen],
    });
    return row?.token ?? null;
  },
  async findContesting({ did, kind, orgId }) {
    const [row] = await database.read<{ token: string }>({
      text: `select token from contesting_claims
        where did = $1 and kind = $2 and org_id = $3 and expires_at > svc_now()`,
      values: [did, kind, orgId],
    });
    return row?.token ?? null;
  },
  async forgetContesting({ did, kind, orgId }) {
    await database.write({
      text: 'delete from contesting_claims where did = $1 and kind = $2 and ($3::text is null or org_id = $3)',
      values: [did, kind, orgId ?? null],
    });
  },
  async countOpen(orgId) {
    const rows = await database.read<{ count: number }>({
      text: `select ${openOf('$1')} as count`,
      values: [orgId],
    });
    return rows[0]?.count ?? 0;
  },
  async forgetExpired() {
    // Rows that a registration is deleting are left to it: the two would wait for each other's rows in different
    // orders.
    const rows = await database.write({
      text: `delete from contesting_claims where (did, kind, org_id) in (
        select did, kind, org_id from contesting_claims where expires_at <= svc_now() for update skip locked
      ) returning did`,
      values: [],
    });
    return rows.length;
  },
});
