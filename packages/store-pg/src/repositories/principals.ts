/** Principals with their keys and the DID document in force (interface §Principal). */
import { randomInt } from 'node:crypto';
import type { DidWeb } from '@svc/protocol';
import type {
  NewPrincipal,
  PrincipalFilter,
  PrincipalMemberRecord,
  PrincipalRecord,
  PrincipalRepository,
} from '@svc/service';
import { Conditions } from '../conditions.ts';
import type { Database } from '../database.ts';
import { isNewcomerSql } from './newcomers.ts';

/** Columns of a `PrincipalMemberRecord` from `principals p`. */
const memberColumns = `
  p.did, p.kind, p.domain, p.slug, svc_verification_state(p) as "verificationState", p.verification_state as "recordedState",
  case when svc_verification_state(p) = 'verified' then p.verified_since end as "verifiedSinceMs",
  p.last_checked_at as "lastCheckedMs", p.last_proven_at as "lastProvenMs",
  p.verification_token as "verificationToken", p.org_id as "orgId", p.claim_expires_at as "claimExpiresAtMs", p.may_be_named as "mayBeNamed",
  p.created_at as "createdAtMs", p.version`;

/** Columns of a `PrincipalRecord` from `principals p left join evidence e on e.hash = p.document_hash`. */
export const principalColumns = `${memberColumns},
  case when e.hash is not null then json_build_object(
    'hash', e.hash, 'body', convert_from(e.body, 'UTF8'), 'resolvedAtMs', svc_ms(p.document_resolved_at)
  ) end as document,
  (select coalesce(json_agg(json_build_object(
      'kid', k.kid, 'publicKeyMultibase', k.public_key_multibase, 'state', k.state, 'sinceMs', svc_ms(k.since),
      'withdrawnMs', svc_ms(k.withdrawn_at)
    ) order by k.created_at, k.kid), '[]')
   from principal_keys k where k.principal = p.did) as keys`;

const select = `select ${principalColumns} from principals p left join evidence e on e.hash = p.document_hash`;

// A transfer keeps the row and its history, and is audited in the transaction that makes it.
const heldSinceSql = `
  select svc_ms(greatest(p.created_at, (
    select max(occurred_at) from audit_events
    where target = p.did and action = 'principal.verify' and details ->> 'claim' = 'transferred'
  ))) as ms
  from principals p where p.did = $1`;

/**
 * Versions begin at the current time in milliseconds. So they differ from those of an earlier Principal with the same
 * DID, which a cache may still hold.
 */
const insertSql = `
  with inserted as (
    insert into principals (did, kind, domain, slug, verification_state, verified_since, last_checked_at,
      verification_token, org_id, may_be_named, document_hash, document_resolved_at, claim_expires_at, version)
    select $1, $2, $3, $4, $5, case $5 when 'verified' then now end, case $5 when 'verified' then now end,
      $6, $7, $8, $9, case when $9::text is not null then now end,
      to_timestamp($12::bigint / 1000.0), svc_ms(now)
    from svc_now() as now
    returning did
  )
  insert into principal_keys (kid, principal, public_key_multibase)
  select k.kid, inserted.did, k.public_key_multibase
  from inserted, unnest($10::text[], $11::text[]) as k (kid, public_key_multibase)`;

const setKeyStateSql = `
  with changed as (
    update principal_keys set since = svc_now(), state = $3
    where principal = $1 and kid = $2
      and array_position('{active,retired,compromised}', state) < array_position('{active,retired,compromised}', $3)
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
  const findLocked = async (
    did: string,
    strength: 'no key update' | 'share',
  ): Promise<PrincipalRecord | null> => {
    // Two statements: after a wait for the lock PostgreSQL reads the locked row anew, but rows joined to it would be
    // from before the wait.
    await database.write({
      text: `select did from principals where did = $1 for ${strength}`,
      values: [did],
    });
    return findWhere('p.did = $1', did);
  };
  const findHeldSince = async (did: DidWeb): Promise<number> => {
    const [row] = await database.read<{ ms: number }>({ text: heldSinceSql, values: [did] });
    return row?.ms ?? Number.POSITIVE_INFINITY;
  };
  return {
    async insert(principal) {
      await database.write({ text: insertSql, values: insertValues(principal) });
      const inserted = await findWhere('p.did = $1', principal.did);
      if (inserted === null) throw new Error(`inserted principal not found: ${principal.did}`);
      return inserted;
    },
    find: (did) => findWhere('p.did = $1', did),
    findHeldSince,
    async lockHeldSince(did) {
      // Compatible with other holders of this lock, and not with a transfer, which locks the row for no key update.
      await database.write({ text: 'select from principals where did = $1 for share', values: [did] });
      return findHeldSince(did);
    },
    async holdDecisions(did) {
      await database.write({ text: 'select svc_pass_barrier($1, svc_ms(svc_now()))', values: [did] });
    },
    async listDidsOfOrg(orgId) {
      const rows = await database.read<{ did: DidWeb }>({
        text: 'select did from principals where org_id = $1 order by did',
        values: [orgId],
      });
      return rows.map(({ did }) => did);
    },
    listOfOrg: (orgId) =>
      database.read<PrincipalMemberRecord>({
        text: `select ${memberColumns} from principals p where p.org_id = $1 order by p.did`,
        values: [orgId],
      }),
    async setKeyState(principal, kid, state) {
      const rows = await database.write({ text: setKeyStateSql, values: [principal, kid, state] });
      return rows.length > 0;
    },
    async isCompromiseVisible(principal, kid) {
      const rows = await database.read({
        text: `select from principal_keys
          where kid = $2 and principal = $1 and compromise_visible_at is not null`,
        values: [principal, kid],
      });
      return rows.length > 0;
    },
    async noteCompromiseVisible(principal, kid) {
      await database.write({
        text: `update principal_keys set compromise_visible_at = svc_now()
          where kid = $2 and principal = $1 and state = 'compromised' and compromise_visible_at is null`,
        values: [principal, kid],
      });
    },
    findForUpdate: (did) => findLocked(did, 'no key update'),
    findForShare: (did) => findLocked(did, 'share'),
    list: (filter) => database.read<PrincipalRecord>(listStatement(filter)),
    async setMayBeNamed(did, mayBeNamed) {
      const rows = await database.write({
        text: 'update principals set may_be_named = $2 where did = $1 returning did',
        values: [did, mayBeNamed],
      });
      return rows.length > 0;
    },
    async setOrg(did, orgId) {
      const rows = await database.write({
        text: 'update principals set org_id = $2 where did = $1 and org_id is null returning did',
        values: [did, orgId],
      });
      return rows.length > 0;
    },
    async recordVerification(did, { state, proven }) {
      await database.write({ text: recordVerificationSql, values: [did, state, proven] });
    },
    async putDocument(did, documentHash, keys) {
      const kids = keys.map(({ kid }) => kid);
      const multibases = keys.map(({ publicKeyMultibase }) => publicKeyMultibase);
      await database.write({ text: putDocumentSql, values: [did, documentHash, kids, multibases] });
    },
    async takeDocumentChange(did, perHour) {
      const rows = await database.write({ text: takeDocumentChangeSql, values: [did, perHour] });
      return rows.length > 0;
    },
    async release(did) {
      await database.write({ text: 'select svc_release_principal($1)', values: [did] });
    },
    async transfer(did, orgId, verificationToken) {
      await database.write({ text: transferSql, values: [did, orgId, verificationToken] });
    },
    async listExpiredClaims(limit) {
      const rows = await database.read<{ did: DidWeb }>({
        text: `select did from principals where claim_expires_at <= svc_now() order by claim_expires_at limit $1`,
        values: [limit],
      });
      return rows.map(({ did }) => did);
    },
    listDueForVerification: (limit) =>
      database.read<PrincipalRecord>({ text: dueSql, values: [limit, randomInt(-(2 ** 31), 2 ** 31)] }),
  };
}

function listStatement(filter: PrincipalFilter) {
  const where = new Conditions()
    .add('p.kind = ?', filter.kind)
    .add('svc_verification_state(p) = ?', filter.state)
    .add('p.org_id = ?', filter.orgId)
    .add('p.did > ?', filter.afterDid);
  const limit = where.parameter(filter.limit);
  const most = where.parameter(filter.maxBytes ?? null);
  return { text: listSql(where.text, limit, most), values: where.values };
}

/**
 * `bytes`: size of the documents and keys before the row above this one; a key counts as its kid and 80 bytes. Rows
 * beyond the bound are counted and not read.
 */
const listSql = (where: string, limit: string, most: string): string => `${select} join (
    select p.did, sum(coalesce(octet_length(e.body), 0) + (
        select coalesce(sum(octet_length(k.kid) + 80), 0) from principal_keys k where k.principal = p.did
      )) over (order by p.did rows between unbounded preceding and 2 preceding) as bytes
    from principals p left join evidence e on e.hash = p.document_hash
    where ${where} order by p.did limit ${limit}
  ) as listed on listed.did = p.did
  where ${most}::bigint is null or listed.bytes is null or listed.bytes < ${most}
  order by p.did`;

// A lapsed Principal that is proven again counts as newly verified. The version rises, so that caches read it again.
const recordVerificationSql = `
  update principals p set
    verification_state = $2,
    verified_since = case when $2 <> 'verified' then null when svc_verification_state(p) = 'verified' then verified_since
      else svc_now() end,
    last_checked_at = svc_now(),
    last_proven_at = case when $3 then svc_now() else last_proven_at end,
    claim_expires_at = case when not $3 then claim_expires_at end,
    version = version + case when verification_state = $2 and svc_verification_state(p) = $2 then 0 else 1 end
  where did = $1`;

const takeDocumentChangeSql = `
  with now as (select svc_now() as at), hour as (
    select coalesce(p.document_changes_since <= now.at - interval '1 hour', true) as is_over, now.at
    from principals p, now where p.did = $1
  )
  update principals p set
    document_changes = case when hour.is_over then 1 else p.document_changes + 1 end,
    document_changes_since = case when hour.is_over then hour.at else p.document_changes_since end
  from hour where p.did = $1 and (hour.is_over or p.document_changes < $2)
  returning p.did`;

// The new owner's claim rests on the operator's word; proofs of the domain for the former owner no longer count.
const transferSql = `
  update principals set org_id = $2, version = version + 1,
    claim_expires_at = null,
    verification_state = case kind when 'hosted' then 'unverified' else verification_state end,
    verified_since = case kind when 'hosted' then null else verified_since end,
    verification_token = case kind when 'hosted' then $3 else verification_token end
  where did = $1`;

/** How many more due hosts are read than listed. Orgs take turns among all that are read. */
const LOOKED_AT = 1_000;

// Orgs take turns, and newcomers share one turn. So a tenant that registers many hosts that never answer delays only
// itself.
const dueSql = `${select} join (
    select d.did, d.due_at, row_number() over (
        partition by case when ${isNewcomerSql('d.org_id')} then 'newcomers' else coalesce(d.org_id, d.did) end
        order by d.due_at, d.did
      ) as place
    from svc_hosts_due($1 + ${LOOKED_AT}, $2) d
    order by place, d.due_at, d.did limit $1
  ) as due on due.did = p.did
  order by due.place, due.due_at, p.did`;

const putDocumentSql = `
  with seen as (
    insert into principal_keys (kid, principal, public_key_multibase)
    select k.kid, $1, k.public_key_multibase from unnest($3::text[], $4::text[]) as k (kid, public_key_multibase)
    order by k.kid
    on conflict (kid) do nothing
  ), listed as (
    select k.kid, exists (
        select from unnest($3::text[], $4::text[]) as d (kid, multibase)
        where d.kid = k.kid and d.multibase = k.public_key_multibase
      ) as is_listed
    from principal_keys k join principals p on p.did = k.principal and p.kind = 'hosted' where p.did = $1
  ), withdrawn as (
    update principal_keys k set withdrawn_at = case when not l.is_listed then svc_now() end
    from listed l where l.kid = k.kid and l.is_listed <> (k.withdrawn_at is null)
  )
  update principals set
    version = version + case when document_hash is not distinct from $2 then 0 else 1 end,
    document_hash = $2,
    document_resolved_at = svc_now()
  where did = $1`;

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
  principal.claimExpiresAtMs ?? null,
];
