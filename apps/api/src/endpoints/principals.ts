/** Principals on the wire (interface §Principal). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp, isJsonObject, type JsonObject, parseStrictJson } from '@svc/protocol';
import {
  type PrincipalCreated,
  type PrincipalRecord,
  type ServiceIdentity,
  verificationOf,
} from '@svc/service';

export const presentPrincipal = (identity: ServiceIdentity, principal: PrincipalRecord) => ({
  did: principal.did,
  kind: principal.kind,
  domain: principal.domain,
  verification: verificationOf(identity, principal),
  created_at: formatTimestamp(principal.createdAtMs),
  org_id: principal.orgId,
  may_be_named: principal.mayBeNamed,
});

type DirectoryEntry = Body<Routes['listPrincipals'], 200>['principals'][number];

/** What every live key may see: never the verification token, never the org. */
export const presentDirectoryEntry = (principal: PrincipalRecord): DirectoryEntry => ({
  did: principal.did,
  kind: principal.kind,
  domain: principal.domain,
  verification: {
    state: principal.verificationState,
    verified_since: timestampOrNull(principal.verifiedSinceMs),
    last_checked_at: timestampOrNull(principal.lastCheckedMs),
    method: principal.kind === 'managed' ? 'svc-hosted' : 'domain',
  },
  keys: principal.keys.map(({ kid, state, sinceMs }) => ({ kid, state, since: formatTimestamp(sinceMs) })),
  did_document: documentOf(principal),
  registered_at: formatTimestamp(principal.createdAtMs),
  may_be_named: principal.mayBeNamed,
});

const timestampOrNull = (ms: number | null): string | null => (ms === null ? null : formatTimestamp(ms));

/** A stored document has been read as strict JSON before; one that were not would be nobody's document. */
const documentOf = ({ document }: PrincipalRecord): JsonObject | null => {
  const parsed = document === null ? null : parseStrictJson(document.body);
  return parsed?.ok && isJsonObject(parsed.value) ? parsed.value : null;
};

export const presentPrincipalCreated = (
  identity: ServiceIdentity,
  { principal, apiKey, apiKeyId }: PrincipalCreated,
): Body<Routes['createPrincipal'], 201> => ({
  ...presentPrincipal(identity, principal),
  did_document_resolved: principal.document !== null,
  api_key: apiKey,
  api_key_id: apiKeyId,
});
