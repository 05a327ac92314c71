/** Principals: registration, the directory, proof of the domain (interface §Principal). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp, type JsonObject } from '@svc/protocol';
import {
  createPrincipal,
  type DomainChecks,
  getPrincipal,
  listPrincipals,
  type PrincipalCreated,
  type PrincipalRecord,
  type ServiceDeps,
  type ServiceIdentity,
  setMayBeNamed,
  shownKeys,
  verificationOf,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { formatTimestampOrNull } from './format-timestamp-or-null.ts';

export const principalEndpoints = (deps: ServiceDeps, checks: DomainChecks): HandlersOf<'principals'> => ({
  createPrincipal: async ({ caller, body, requestId }) => {
    const created = await createPrincipal(deps, caller, body, requestId);
    return { status: 201, body: presentPrincipalCreated(deps.identity, created) };
  },

  listPrincipals: async ({ caller, query }) => {
    const { items, nextCursor } = await listPrincipals(deps, caller, query);
    const body = {
      principals: items.map((item) => presentDirectoryEntry(item, deps.clock.nowMs())),
      next_cursor: nextCursor,
    };
    return { status: 200, body };
  },

  getPrincipal: async ({ caller, params }) => {
    const { principal, isFull } = await getPrincipal(deps, caller, params.did);
    const body = isFull
      ? presentPrincipal(deps.identity, principal)
      : presentDirectoryEntry(principal, deps.clock.nowMs());
    return { status: 200, body };
  },

  updatePrincipal: async ({ params, body }) => {
    const principal = await setMayBeNamed(deps, params.did, body.may_be_named);
    return { status: 200, body: presentPrincipal(deps.identity, principal) };
  },

  /** Answers 200 only once the outcome is visible everywhere. */
  verifyPrincipal: async ({ caller, params, requestId }) => {
    const principal = await checks.verify(deps, caller, params.did, requestId);
    return { status: 200, body: presentPrincipal(deps.identity, principal) };
  },
});

const presentPrincipal = (identity: ServiceIdentity, principal: PrincipalRecord) => ({
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
const presentDirectoryEntry = (principal: PrincipalRecord, nowMs: number): DirectoryEntry => ({
  did: principal.did,
  kind: principal.kind,
  domain: principal.domain,
  verification: {
    state: principal.verificationState,
    verified_since: formatTimestampOrNull(principal.verifiedSinceMs),
    last_checked_at: formatTimestampOrNull(principal.lastCheckedMs),
    method: principal.kind === 'managed' ? 'svc-hosted' : 'domain',
  },
  keys: shownKeys(principal, nowMs).map(({ kid, state, sinceMs }) => ({
    ...{ kid, state, since: formatTimestamp(sinceMs) },
  })),
  did_document: documentOf(principal),
  registered_at: formatTimestamp(principal.createdAtMs),
  may_be_named: principal.mayBeNamed,
});

/** As it was had: the resolver has read it, whose numbers may be of any form. */
const documentOf = ({ document }: PrincipalRecord): JsonObject | null =>
  document === null ? null : JSON.parse(document.body);

const presentPrincipalCreated = (
  identity: ServiceIdentity,
  { principal, apiKey, apiKeyId }: PrincipalCreated,
): Body<Routes['createPrincipal'], 201> => ({
  ...presentPrincipal(identity, principal),
  did_document_resolved: principal.document !== null,
  api_key: apiKey,
  api_key_id: apiKeyId,
});
