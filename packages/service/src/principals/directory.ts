/**
 * Reads Principals (interface §GET /principals, §GET /principals/{did}). Every live key may read the directory; only
 * the Principal itself, its org and the operator may read the record with the verification token.
 */
import type { DidWeb, OrgId } from '@svc/protocol';
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
import type { EndedKeys } from './ended-keys.ts';

type Deps = Pick<ServiceDeps, 'store'>;

type ShownKey = Pick<PrincipalKeyRecord, 'kid' | 'state' | 'sinceMs'>;

/**
 * The keys as they are shown. A key signs no new Grant once its document no longer lists it, or once its owner has
 * ended it there with `revoked` or `expires`. Such a key is not shown as `active`.
 */
export const findShownKeys = async (
  endedKeys: EndedKeys,
  principal: Pick<PrincipalRecord, 'did' | 'kind' | 'document' | 'keys'>,
  nowMs: number,
): Promise<readonly ShownKey[]> => {
  const ends = await endedKeys.find(principal);
  return principal.keys.map(({ kid, state, sinceMs, withdrawnMs }) => {
    const goneMs = Math.min(
      withdrawnMs ?? Number.POSITIVE_INFINITY,
      ends.get(kid) ?? Number.POSITIVE_INFINITY,
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
  /** The last DID of the page before this one. */
  readonly cursor?: DidWeb | undefined;
}

/** Maximum size of a page; our client libraries read up to 2^20 bytes. */
const PAGE_BYTES = 1_000_000;
/** Upper bounds of the bytes of an entry without its document and ids, and of one of its keys without the key's id. */
const ENTRY_BYTES = 512;
const KEY_BYTES = 80;

export const listPrincipals = async (
  { store }: Deps,
  caller: Caller,
  { kind, state, org_id: orgId, limit, cursor: afterDid }: PrincipalListQuery,
): Promise<Page<PrincipalRecord>> => {
  if (orgId !== undefined) requireMembersReadable(caller, orgId);
  const filter = { kind, state, orgId, afterDid, maxBytes: PAGE_BYTES };
  const list = (rows: number) => store.principals.list({ ...filter, limit: rows });
  return readPage(limit, list, ({ did }) => did, countOfPage);
};

/** The number of entries that fit into the bytes of a page; at least one. */
const countOfPage = (found: readonly PrincipalRecord[]): number => {
  let bytes = 0;
  const first = found.findIndex((principal, i) => {
    bytes += bytesOfEntry(principal);
    return bytes > PAGE_BYTES && i > 0;
  });
  return first === -1 ? found.length : first;
};

const bytesOfEntry = ({ did, document, keys }: PrincipalRecord): number => {
  let bytes = ENTRY_BYTES + 2 * did.length + Buffer.byteLength(document?.body ?? '');
  for (const { kid } of keys) bytes += KEY_BYTES + kid.length;
  return bytes;
};

/** `isFull`: the caller may see the whole record, and not only the directory entry. */
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
