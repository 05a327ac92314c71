/**
 * Reading Principals (interface §GET /principals, §GET /principals/{did}). Every live key may read the directory; the
 * record with the verification token is for the Principal itself, its org and the operator.
 */
import { type DidWeb, type OrgId, parseDidDocument } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { mayReadPrincipal, requireMembersReadable } from '../access/reading.ts';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { type Page, readPage } from '../paging/page.ts';
import type {
  PrincipalKeyRecord,
  PrincipalKind,
  PrincipalRecord,
  VerificationState,
} from '../ports/principals.ts';

type Deps = Pick<ServiceDeps, 'store'>;

type ShownKey = Pick<PrincipalKeyRecord, 'kid' | 'state' | 'sinceMs'>;

/**
 * The keys as they are shown. One that its document does not list any more, or that its owner has ended there by `revoked` or
 * `expires`, signs no new Grant, so it is not `active`.
 */
export const shownKeys = (
  { did, kind, document, keys }: Pick<PrincipalRecord, 'did' | 'kind' | 'document' | 'keys'>,
  nowMs: number,
): readonly ShownKey[] => {
  // What the service publishes itself ends no key in that way.
  const ends =
    kind === 'hosted' && document !== null ? parseDidDocument(document.body, did)?.endedFromMs : null;
  return keys.map(({ kid, state, sinceMs, withdrawnMs }) => {
    const goneMs = Math.min(
      withdrawnMs ?? Number.POSITIVE_INFINITY,
      ends?.get(kid) ?? Number.POSITIVE_INFINITY,
    );
    return state === 'active' && goneMs <= nowMs
      ? { kid, state: 'retired', sinceMs: goneMs }
      : { kid, state, sinceMs };
  });
};

export interface PrincipalListQuery {
  readonly kind?: PrincipalKind | undefined;
  readonly state?: VerificationState | undefined;
  readonly org_id?: OrgId | undefined;
  readonly limit: number;
  /** The last DID of the page before. */
  readonly cursor?: DidWeb | undefined;
}

export const listPrincipals = async (
  { store }: Deps,
  caller: Caller,
  { kind, state, org_id: orgId, limit, cursor: afterDid }: PrincipalListQuery,
): Promise<Page<PrincipalRecord>> => {
  if (orgId !== undefined) requireMembersReadable(caller, orgId);
  const list = (rows: number) => store.principals.list({ kind, state, orgId, afterDid, limit: rows });
  return readPage(limit, list, ({ did }) => did);
};

/** `isFull`: the caller may see the whole record, not the directory entry alone. */
export const getPrincipal = async (
  { store }: Deps,
  caller: Caller,
  did: DidWeb,
): Promise<{ readonly principal: PrincipalRecord; readonly isFull: boolean }> => {
  const principal = await store.principals.find(did);
  if (principal === null) throw notFound(`No Principal ${did}.`);
  return { principal, isFull: mayReadPrincipal(caller, principal) };
};

/** Sets whether the Principal consents to be named on the public metrics page. No decision depends on it. */
export const setMayBeNamed = async (
  { store }: Deps,
  did: DidWeb,
  mayBeNamed: boolean,
): Promise<PrincipalRecord> => {
  const found = await store.principals.setMayBeNamed(did, mayBeNamed);
  const principal = found ? await store.principals.find(did) : null;
  if (principal === null) throw notFound(`No Principal ${did}.`);
  return principal;
};
