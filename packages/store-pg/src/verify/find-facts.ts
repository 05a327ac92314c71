/** Reads the facts for a batch of evaluations in one round trip: each Principal and each Grant once. */
import type { AllocatedGrant, FactsQuery, FactsRecord, PrincipalRecord } from '@svc/service';
import type { Database } from '../database.ts';
import { principalColumns } from '../repositories/principals.ts';
import type { Statement } from '../statement.ts';

// The two arrays differ in length; unnest fills the shorter one with nulls.
export const factsText = `
  select ${principalColumns},
    case when g.id is not null then json_build_object(
      'id', g.id, 'principal', g.principal, 'agent', g.agent, 'statusListUrl', g.status_list_url,
      'statusIndex', g.status_index, 'allocatedAtMs', svc_ms(g.allocated_at),
      'revocationRecordedAtMs', svc_ms(g.revocation_recorded_at), 'revokedAtMs', svc_ms(g.revoked_at),
      'grantHash', a.grant_hash, 'isWithheld', g.withheld_by is not null,
      'isPaused', i.has_pauses and svc_grant_is_paused(g.id), 'principalVersion', i.version
    ) end as "foundGrant"
  from unnest($1::text[], $2::text[]) as wanted (did, grant_id)
  left join principals p on p.did = wanted.did
  left join evidence e on e.hash = p.document_hash
  left join grants g on g.id = wanted.grant_id
  left join principals i on i.did = g.principal
  left join allowed_grants a on a.grant_id = g.id`;

export const factsStatement = (issuers: readonly string[], grantIds: readonly string[]): Statement => ({
  name: 'find_facts',
  text: factsText,
  values: [issuers, grantIds],
});

type Row = { [Column in keyof PrincipalRecord]: PrincipalRecord[Column] | null } & {
  readonly foundGrant: AllocatedGrant | null;
};

/** See `VerifyStore.findFacts`. */
export async function findFacts(database: Database, queries: readonly FactsQuery[]): Promise<FactsRecord[]> {
  const issuers = distinct(queries.map((query) => query.issuer));
  const grantIds = distinct(queries.map((query) => query.grantId));
  if (issuers.length + grantIds.length === 0) return queries.map(() => ({ principal: null, grant: null }));

  const rows = await database.read<Row>(factsStatement(issuers, grantIds));
  const principals = new Map<string, PrincipalRecord>();
  const grants = new Map<string, AllocatedGrant>();
  for (const { foundGrant, ...principal } of rows) {
    if (isPrincipal(principal)) principals.set(principal.did, principal);
    if (foundGrant !== null) grants.set(foundGrant.id, foundGrant);
  }
  return queries.map(({ issuer, grantId }) => ({
    principal: (issuer !== null && principals.get(issuer)) || null,
    grant: (grantId !== null && grants.get(grantId)) || null,
  }));
}

/** The join found a row exactly where the primary key is not null. */
const isPrincipal = (row: Omit<Row, 'foundGrant'>): row is PrincipalRecord => row.did !== null;

const distinct = <T extends string>(ids: readonly (T | null)[]): T[] => [
  ...new Set(ids.filter((id) => id !== null)),
];
