/**
 * DID documents of hosted Principals (protocol §13): fetched from their host, stored as evidence, and put in force in
 * one transaction, so that no Receipt can name a document that is not stored.
 */
import { sha256Of } from '@svc/protocol';
import { tenantFor } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import type { DidResolution } from '../ports/hosted-principals.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
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

/** One fetch, and one more when another node put a document in force meanwhile that says something else. */
const MAX_FETCHES = 2;

type Refreshable = Pick<PrincipalRecord, 'did' | 'orgId'>;

/** Fetches the document and puts it in force. Rejects when storage does; the document in force then stays. */
export const refreshHostedDocument = async (deps: Deps, principal: Refreshable): Promise<Refreshed> => {
  const { did } = principal;
  const tenant = tenantFor(principal);
  for (let fetches = 1; ; fetches++) {
    const askedAtMs = deps.clock.nowMs();
    const resolution = await deps.didResolver.resolve(did, tenant);
    if (resolution.kind !== 'resolved') return resolution;
    const { current, overtaken } = await deps.store.as(tenant).transaction(
      async (tx) => {
        const locked = await tx.principals.findForUpdate(did);
        if (locked === null) return { current: null, overtaken: false };
        const put = await putResolved(deps, tx, locked, resolution, askedAtMs);
        return { current: put.principal, overtaken: put.overtaken };
      },
      { turn: did },
    );
    if (current === null) return { kind: 'unreachable', problem: 'the Principal is gone' };
    if (!overtaken || fetches === MAX_FETCHES) return { kind: 'stored', principal: current };
  }
};

/**
 * Puts a document in force for a Principal whose row is locked, unless one was put in force since this one was asked
 * for: a slow answer never replaces a newer one. `overtaken`: that one has other bytes.
 */
export const putResolved = async (
  deps: Pick<ServiceDeps, 'crypto'>,
  tx: Repositories,
  locked: PrincipalRecord,
  { text, keys }: Extract<DidResolution, { kind: 'resolved' }>,
  askedAtMs: number,
): Promise<{ readonly principal: PrincipalRecord | null; readonly overtaken: boolean }> => {
  const { did, document } = locked;
  const hash = sha256Of(deps.crypto, text);
  if (document !== null && document.resolvedAtMs >= askedAtMs)
    return { principal: locked, overtaken: document.hash !== hash };
  if (seenWith(locked, keys) > MAX_KEYS_EVER_SEEN) return { principal: locked, overtaken: false };
  if (document?.hash !== hash) await storeDocument(tx, hash, text);
  await tx.principals.putDocument(did, hash, keys);
  return { principal: await tx.principals.find(did), overtaken: false };
};
