/**
 * DID documents of hosted Principals (protocol §13). A document is fetched from its host, stored as evidence, and put
 * in force in one transaction, so that no Receipt can name a document that is not stored.
 */
import { type DidWeb, parseDidDocument, sha256Of, TRUST_CONFIG } from '@svc/protocol';
import { findTenantFor } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import type { DidResolution, ResolvedKey } from '../ports/hosted-principals.ts';
import type { IssuerDocumentRecord, PrincipalRecord } from '../ports/principals.ts';
import type { Repositories } from '../ports/store.ts';
import { storeDocument } from './store-document.ts';

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'crypto' | 'didResolver'>;

/** `stored`: `principal` has the document in force now, either this one or a newer one. */
export type Refreshed =
  | { readonly kind: 'stored'; readonly principal: PrincipalRecord }
  | Exclude<DidResolution, { kind: 'resolved' }>;

/**
 * Maximum number of keys ever seen of a Principal. Keys are never deleted, and every decision reads them; a document
 * that would exceed the limit is not put in force.
 */
const MAX_KEYS_EVER_SEEN = 256;

const seenWith = ({ keys: seen }: PrincipalRecord, keys: readonly { readonly kid: string }[]): number =>
  new Set([...seen, ...keys].map(({ kid }) => kid)).size;

/** Maximum number of changes of a document in an hour. Each change is stored, and kept when a Receipt names it. */
const MAX_CHANGES_PER_HOUR = 30;

/**
 * True when the document was put in force while the database's clock was ahead, so that its age is not known. If such a
 * document counted as new until that time, it would keep out the document that withdraws its keys.
 */
export const isDatedAhead = ({ resolvedAtMs }: Pick<IssuerDocumentRecord, 'resolvedAtMs'>, nowMs: number) =>
  resolvedAtMs - nowMs > TRUST_CONFIG.clockSkewSeconds * 1000;

type Resolved = Extract<DidResolution, { kind: 'resolved' }>;

/** The keys that their owner has not ended in the document. */
const usableIn = <T extends { readonly kid: string }>(
  keys: readonly T[],
  text: string,
  did: DidWeb,
  nowMs: number,
): readonly T[] => {
  const ends = parseDidDocument(text, did)?.endedFromMs;
  return keys.filter(({ kid }) => nowMs < (ends?.get(kid) ?? Number.POSITIVE_INFINITY));
};

/**
 * True when the document may be put in force. A document that only removes or ends keys always may be, because an owner
 * that wants to end a key must not wait for an hour to pass. Only few such changes are possible until a key is added
 * again.
 */
const mayChange = async (
  tx: Repositories,
  { did, keys: seen, document }: PrincipalRecord,
  resolved: Resolved,
  nowMs: number,
): Promise<boolean> => {
  const known = seen.filter(({ withdrawnMs }) => withdrawnMs === null);
  const listed = usableIn(known, document?.body ?? '', did, nowMs);
  const usable = usableIn(resolved.keys, resolved.text, did, nowMs);
  const isListed = ({ kid, publicKeyMultibase }: ResolvedKey) =>
    listed.some((key) => key.kid === kid && key.publicKeyMultibase === publicKeyMultibase);
  if (usable.length < listed.length && usable.every(isListed)) return true;
  return tx.principals.takeDocumentChange(did, MAX_CHANGES_PER_HOUR);
};

/** One fetch, and a second one when another node has meanwhile put a different document in force. */
const MAX_FETCHES = 2;

type Refreshable = Pick<PrincipalRecord, 'did' | 'orgId'>;

/** Fetches the document and puts it in force. Rejects when storage does; then the document in force stays. */
export const refreshHostedDocument = async (deps: Deps, principal: Refreshable): Promise<Refreshed> => {
  const { did } = principal;
  const tenant = await findTenantFor(deps.store, 'principal', principal);
  for (let fetches = 1; ; fetches++) {
    const askedAtMs = deps.clock.nowMs();
    const resolution = await deps.didResolver.resolve(did, tenant);
    if (resolution.kind !== 'resolved') return resolution;
    const {
      principal: current,
      overtaken,
      refused,
    } = await deps.store.as(tenant).transaction(
      async (tx): Promise<Put> => {
        const locked = await tx.principals.findForUpdate(did);
        if (locked === null) return { principal: null, overtaken: false };
        return putResolved(deps, tx, locked, resolution, askedAtMs);
      },
      { exclusiveKey: did },
    );
    if (refused !== undefined) return { kind: 'invalid', problem: refused };
    if (current === null) return { kind: 'unreachable', problem: 'the Principal is gone' };
    if (!overtaken || fetches === MAX_FETCHES) return { kind: 'stored', principal: current };
  }
};

/**
 * `overtaken`: another document was put in force since this one was requested. `refused`: why it was not put in force;
 * absent otherwise.
 */
export interface Put {
  readonly principal: PrincipalRecord | null;
  readonly overtaken: boolean;
  readonly refused?: string;
}

/**
 * Puts a document in force for a Principal whose row is locked, unless another was put in force since this one was
 * requested. So a slow answer never replaces a newer one. `overtaken`: the other document has different bytes.
 */
export const putResolved = async (
  deps: Pick<ServiceDeps, 'crypto' | 'clock'>,
  tx: Repositories,
  locked: PrincipalRecord,
  resolved: Resolved,
  askedAtMs: number,
): Promise<Put> => {
  const { text, contentType, keys } = resolved;
  const { did, document } = locked;
  const hash = sha256Of(deps.crypto, text);
  const isKnownAge = document !== null && !isDatedAhead(document, deps.clock.nowMs());
  if (isKnownAge && document.resolvedAtMs >= askedAtMs)
    return { principal: locked, overtaken: document.hash !== hash };
  if (seenWith(locked, keys) > MAX_KEYS_EVER_SEEN)
    return { principal: locked, overtaken: false, refused: `it brings more than ${MAX_KEYS_EVER_SEEN} keys` };
  if (document !== null && document.hash !== hash && !(await mayChange(tx, locked, resolved, askedAtMs)))
    return {
      principal: locked,
      overtaken: false,
      refused: `it changed ${MAX_CHANGES_PER_HOUR} times in an hour`,
    };
  if (document?.hash !== hash) await storeDocument(tx, hash, text, contentType ?? undefined);
  await tx.principals.putDocument(did, hash, keys);
  return { principal: await tx.principals.find(did), overtaken: false };
};
