/**
 * DID documents of hosted Principals (protocol §13): fetched from their host, stored as evidence, and put in force in
 * one transaction, so that no Receipt can name a document that is not stored.
 */
import { type DidWeb, parseDidDocument, sha256Of, TRUST_CONFIG } from '@svc/protocol';
import { findTenantFor } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import type { DidResolution, ResolvedKey } from '../ports/hosted-principals.ts';
import type { IssuerDocumentRecord, PrincipalRecord } from '../ports/principals.ts';
import type { Repositories } from '../ports/store.ts';
import { storeDocument } from './store-document.ts';

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'crypto' | 'didResolver'>;

/** `stored`: `principal` has the document in force now, this one or one that is newer. */
export type Refreshed =
  | { readonly kind: 'stored'; readonly principal: PrincipalRecord }
  | Exclude<DidResolution, { kind: 'resolved' }>;

/** Keys are never forgotten and are read with every decision; a document that would bring more is not put in force. */
const MAX_KEYS_EVER_SEEN = 256;

const seenWith = ({ keys: seen }: PrincipalRecord, keys: readonly { readonly kid: string }[]): number =>
  new Set([...seen, ...keys].map(({ kid }) => kid)).size;

/** Each change is stored, and kept if a Receipt names it. */
const MAX_CHANGES_PER_HOUR = 30;

/**
 * Put in force while the database's clock was ahead, so nobody knows how old it is: taken for new until then, it would keep
 * out the document that withdraws its keys.
 */
export const isDatedAhead = ({ resolvedAtMs }: Pick<IssuerDocumentRecord, 'resolvedAtMs'>, nowMs: number) =>
  resolvedAtMs - nowMs > TRUST_CONFIG.clockSkewSeconds * 1000;

type Resolved = Extract<DidResolution, { kind: 'resolved' }>;

/** Those that their owner has not ended there. */
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
 * A document that only takes keys away or ends them is put in force however often it has changed: whoever wants a key gone
 * must not wait for an hour to be over. There are few keys to take away until one is added again.
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

/** One fetch, and one more when another node put a document in force meanwhile that says something else. */
const MAX_FETCHES = 2;

type Refreshable = Pick<PrincipalRecord, 'did' | 'orgId'>;

/** Fetches the document and puts it in force. Rejects when storage does; the document in force then stays. */
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

/** `overtaken`: another was put in force since it was asked for. `refused`: why it was not put in force, if it was not. */
export interface Put {
  readonly principal: PrincipalRecord | null;
  readonly overtaken: boolean;
  readonly refused?: string;
}

/**
 * Puts a document in force for a Principal whose row is locked, unless one was put in force since this one was asked
 * for: a slow answer never replaces a newer one. `overtaken`: that one has other bytes.
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
