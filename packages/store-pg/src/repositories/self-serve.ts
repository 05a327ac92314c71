/** Self-serve tenants, and the day's count of them (interface §Self-serve, protocol §13). */
import type { RelyingPartyRecord, SelfServeRepository } from '@svc/service';
import type { Database } from '../database.ts';
import { relyingPartyRepository } from './relying-parties.ts';

const insertSql = `
  insert into self_serve_tenants (org_id, relying_party, admin_email) values ($1, $2, $3)`;

// One row a day: a sign-up waits for those before it, and counts on from their result.
const takeSignUpSql = `
  insert into self_serve_days as counted (day, sign_ups) values ((svc_now() at time zone 'UTC')::date, 1)
  on conflict (day) do update set sign_ups = counted.sign_ups + 1 where counted.sign_ups < $1
  returning day`;

const takeSandboxCallSql = `
  insert into sandbox_days as counted (day, calls) values ((svc_now() at time zone 'UTC')::date, 1)
  on conflict (day) do update set calls = counted.calls + 1 where counted.calls < $1
  returning day`;

const takeChangeSql = `
  update self_serve_tenants set changes = changes + 1 where org_id = $1 and changes < $2 returning org_id`;

export function selfServeRepository(database: Database): SelfServeRepository {
  return {
    async insert({ orgId, relyingParty, adminEmail }) {
      await database.write({ text: insertSql, values: [orgId, relyingParty, adminEmail] });
    },
    async takeSignUp(perDay) {
      return (await database.write({ text: takeSignUpSql, values: [perDay] })).length > 0;
    },
    async takeSandboxCall(perDay) {
      return (await database.write({ text: takeSandboxCallSql, values: [perDay] })).length > 0;
    },
    async takeChange(orgId, atMost) {
      return (await database.write({ text: takeChangeSql, values: [orgId, atMost] })).length > 0;
    },
    async findRelyingParty(did): Promise<RelyingPartyRecord | null> {
      const rows = await database.read({
        text: `select from self_serve_tenants t join relying_parties rp on rp.did = t.relying_party and rp.org_id = t.org_id
          where t.relying_party = $1`,
        values: [did],
      });
      return rows.length === 0 ? null : relyingPartyRepository(database).find(did);
    },
  };
}
