/** Principals with their keys and the DID document in force (interface §Principal). */
import type { DidWeb } from '@svc/protocol';
import type { NewPrincipal, PrincipalRecord, PrincipalRepository } from '@svc/service';
import type { Database } from '../database.ts';

/** Columns of a `PrincipalRecord` from `principals p left join evidence e on e.hash = p.document_hash`. */
export const principalColumns = `
  p.did, p.kind, p.domain, p.slug, p.verification_state as "verificationState",
  p.verified_since as "verifiedSinceMs", p.last_checked_at as "lastCheckedMs",
  p.verification_token as "verificationToken", p.org_id as "orgId", p.may_be_named as "mayBeNamed",
  p.created_at as "createdAtMs", p.version,
  case when e.hash is not null then json_build_object(
    'hash', e.hash, 'body', convert_from(e.body, 'UTF8'), 'resolvedAtMs', svc_ms(p.document_resolved_at)
  ) end as document,
  (select coalesce(json_agg(json_build_object(
      'kid', k.kid, 'publicKeyMultibase', k.public_key_multibase, 'state', k.state, 'sinceMs', svc_ms(k.since)
    ) order by k.created_at, k.kid), '[]')
   from principal_keys k where k.principal = p.did) as keys`;

const select = `select ${principalColumns} from principals p left join evidence e on e.hash = p.document_hash`;

const insertSql = `
  with inserted as (
    insert into principals (did, kind, domain, slug, verification_state, verified_since, last_checked_at,
      verification_token, org_id, may_be_named, document_hash, document_resolved_at)
    select $1, $2, $3, $4, $5, case $5 when 'verified' then now end, case $5 when 'verified' then now end,
      $6, $7, $8, $9, case when $9::text is not null then now end
    from svc_now() as now
    returning did
  )
  insert into principal_keys (kid, principal, public_key_multibase)
  select k.kid, inserted.did, k.public_key_multibase
  from inserted, unnest($10::text[], $11::text[]) as k (kid, public_key_multibase)`;

const setKeyStateSql = `
  with changed as (
    update principal_keys set since = case state when $3 then since else svc_now() end, state = $3
    where principal = $1 and kid = $2
    returning principal
  )
  update principals set version = version + 1 from changed where did = changed.principal
  returning did`;

export function principalRepository(database: Database): PrincipalRepository {
  const findWhere = async (condition: string, value: string): Promise<PrincipalRecord | null> => {
    const rows = await database.read<PrincipalRecord>({
      text: `${select} where ${condition}`,
      values: [value],
    });
    return rows[0] ?? null;
  };
  return {
    async insert(principal) {
      await database.write({ text: insertSql, values: insertValues(principal) });
      const inserted = await findWhere('p.did = $1', principal.did);
      if (inserted === null) throw new Error(`inserted principal not found: ${principal.did}`);
      return inserted;
    },
    find: (did) => findWhere('p.did = $1', did),
    findBySlug: (slug) => findWhere('p.slug = $1', slug),
    async listDidsOfOrg(orgId) {
      const rows = await database.read<{ did: DidWeb }>({
        text: 'select did from principals where org_id = $1 order by did',
        values: [orgId],
      });
      return rows.map(({ did }) => did);
    },
    async setKeyState(principal, kid, state) {
      const rows = await database.write({ text: setKeyStateSql, values: [principal, kid, state] });
      return rows.length > 0;
    },
  };
}

const insertValues = (principal: NewPrincipal): unknown[] => [
  principal.did,
  principal.kind,
  principal.domain,
  principal.slug,
  principal.verificationState,
  principal.verificationToken,
  principal.orgId,
  principal.mayBeNamed,
  principal.documentHash,
  principal.keys.map((key) => key.kid),
  principal.keys.map((key) => key.publicKeyMultibase),
];
