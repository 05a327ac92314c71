/** Principals: registration, the directory, proof of the domain (interface §Principal). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import {
  createPrincipal,
  type DomainChecks,
  type EndedKeys,
  findShownKeys,
  getPrincipal,
  listPrincipals,
  type PrincipalCreated,
  type PrincipalRecord,
  type ServiceDeps,
  type ServiceIdentity,
  setMayBeNamed,
  verificationOf,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { formatTimestampOrNull } from './format-timestamp-or-null.ts';

export const principalEndpoints = (
  deps: ServiceDeps,
  checks: DomainChecks,
  endedKeys: EndedKeys,
): HandlersOf<'principals'> => ({
  createPrincipal: async ({ caller, body, requestId }) => {
    const created = await createPrincipal(checks.inTurn(deps, caller), caller, body, requestId);
    return { status: 201, body: presentPrincipalCreated(deps.identity, created) };
  },

  listPrincipals: async ({ caller, query }) => {
    const { items, nextCursor } = await listPrincipals(deps, caller, query);
    const entries: string[] = [];
    for (const item of items) entries.push(await textOfDirectoryEntry(endedKeys, item, deps.clock.nowMs()));
    const rawBody = `{"principals":[${entries.join(',')}],"next_cursor":${JSON.stringify(nextCursor)}}`;
    return { status: 200, rawBody };
  },

  getPrincipal: async ({ caller, params }) => {
    const { principal, isFull } = await getPrincipal(deps, caller, params.did);
    if (isFull) return { status: 200, body: presentPrincipal(deps.identity, principal) };
    return { status: 200, rawBody: await textOfDirectoryEntry(endedKeys, principal, deps.clock.nowMs()) };
  },

  updatePrincipal: async ({ params, body }) => {
    const principal = await setMayBeNamed(deps, params.did, body.may_be_named);
    return { status: 200, body: presentPrincipal(deps.identity, principal) };
  },

  /** Answers 200 only once the result is visible everywhere. */
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

/**
 * The directory entry that every live key may read. It never contains the verification token or the org. The document
 * is the text that was fetched.
 */
const textOfDirectoryEntry = async (
  endedKeys: EndedKeys,
  principal: PrincipalRecord,
  nowMs: number,
): Promise<string> => {
  const keys = await findShownKeys(endedKeys, principal, nowMs);
  const before: Partial<DirectoryEntry> = {
    did: principal.did,
    kind: principal.kind,
    domain: principal.domain,
    verification: {
      state: principal.verificationState,
      verified_since: formatTimestampOrNull(principal.verifiedSinceMs),
      last_checked_at: formatTimestampOrNull(principal.lastCheckedMs),
      method: principal.kind === 'managed' ? 'svc-hosted' : 'domain',
    },
    keys: keys.map(({ kid, state, sinceMs }) => ({ kid, state, since: formatTimestamp(sinceMs) })),
  };
  const after: Partial<DirectoryEntry> = {
    registered_at: formatTimestamp(principal.createdAtMs),
    may_be_named: principal.mayBeNamed,
  };
  const document = textOfDocument(principal);
  return `${JSON.stringify(before).slice(0, -1)},"did_document":${document},${JSON.stringify(after).slice(1)}`;
};

/** Digits or an exponent that may exceed the range of a double: 199 digits and `e99` are within it. */
const HUGE_NUMBER = /(?<![0-9])[0-9]{200}|[0-9][eE]\+?0*[0-9]{3}/;

/**
 * The document's text. The resolver accepts numbers of any form, but some readers refuse a whole text that contains
 * 1e400. So a document with such numbers is serialized again. Serialized, it can be four times as long (1e20 becomes 21
 * digits); if it is longer, `null` is shown, so that a page is never longer than its documents were.
 */
const textOfDocument = ({ document }: PrincipalRecord): string => {
  if (document === null) return 'null';
  if (!HUGE_NUMBER.test(document.body)) return document.body;
  const text = JSON.stringify(JSON.parse(document.body));
  return text.length > document.body.length ? 'null' : text;
};

const presentPrincipalCreated = (
  identity: ServiceIdentity,
  { principal, apiKey, apiKeyId }: PrincipalCreated,
): Body<Routes['createPrincipal'], 201> => ({
  ...presentPrincipal(identity, principal),
  did_document_resolved: principal.document !== null,
  api_key: apiKey,
  api_key_id: apiKeyId,
});
