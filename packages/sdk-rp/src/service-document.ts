/**
 * The service's DID document, which says which keys sign Receipts, and when. It is either pinned, or fetched from the
 * configured address for the configured DID. A fetched document is kept for at most ten minutes, so that a leaked key
 * is not trusted for longer. If a Receipt has a key that the kept document lacks, as after a key rotation, the document
 * is fetched again, but seldom: Receipts cannot make a client send many requests to the service.
 */
import type { JsonValue } from '@svc/codec';
import { readServiceKeys, type ServiceKeys } from '@svc/receipts';
import type { CallOptions, Transport } from '@svc/sdk-core';
import { checkPinnedService, SvcError } from '@svc/sdk-core';

export interface ServiceDocument {
  /** Whether the document is pinned; the caller must then replace it itself. */
  readonly isPinned: boolean;
  /** The keys in the document, parsed once. */
  get(): Promise<ServiceKeys>;
  /**
   * The keys of a newer document, for a Receipt whose key is missing in `had`, a result of `get`. Null if it is too
   * soon to fetch again.
   */
  renew(had: ServiceKeys): Promise<ServiceKeys | null>;
}

/** The time for which the service lets caches keep it. After that it is fetched again in the background. */
const FRESH_FOR_MS = 60_000;
/** The age from which a call waits for a newer document, and fails without one. */
const USED_FOR_MS = 600_000;
const MIN_REFETCH_MS = 30_000;

/** @throws SvcError `configuration` for a value that is not a DID document, or not that of `serviceDid` */
export function pinnedDocument(document: unknown, serviceDid: string | undefined): ServiceDocument {
  const read = readServiceKeys(document);
  if (!read.ok) {
    const why = read.failures.map(({ message }) => message).join('; ');
    throw new SvcError('configuration', `didDocument: ${why}`);
  }
  checkPinnedService(document, serviceDid);
  return { isPinned: true, get: () => Promise.resolve(read.keys), renew: () => Promise.resolve(null) };
}

interface CachedKeys {
  readonly keys: ServiceKeys;
  readonly fetchedAtMs: number;
}

interface Fetch {
  readonly keys: Promise<ServiceKeys>;
  readonly beganAtMs: number;
}

/**
 * Calls share a fetch, so no caller's signal or time ends it; only the transport's own deadline, `timeoutMs`, does. A
 * call that waits for a fetch can end earlier (`WholeCall`).
 *
 * A fetch is shared only until that deadline by the clock. When a client disconnects, edge runtimes drop everything
 * that its request waits for, timers included. Such a fetch never ends, and calls of other requests must not wait for
 * it.
 */
export function fetchedDocument(
  transport: Transport,
  serviceDid: string,
  { now, timeoutMs }: { readonly now: () => number; readonly timeoutMs: number },
): ServiceDocument {
  let kept: CachedKeys | null = null;
  let fetching: Fetch | null = null;
  let askedAtMs = Number.NEGATIVE_INFINITY;

  /** Absolute, because a clock that was set back would make ages negative. */
  const ageMs = (atMs: number): number => Math.abs(now() - atMs);

  const underWay = (): Fetch | null =>
    fetching !== null && ageMs(fetching.beganAtMs) < timeoutMs ? fetching : null;

  function fetchAndKeep(): Promise<ServiceKeys> {
    const shared = underWay();
    if (shared !== null) return shared.keys;
    const beganAtMs = now();
    askedAtMs = beganAtMs;
    const begun: Fetch = { keys: fetchKeys(transport, serviceDid), beganAtMs };
    fetching = begun;
    // A fetch that was given up may still end. It must neither end nor replace a later fetch.
    const end = (found: CachedKeys | null): void => {
      if (fetching !== begun) return;
      fetching = null;
      kept = found ?? kept;
    };
    // A failure is not kept. The previous document stays until it is too old, and the next call tries again.
    begun.keys.then(
      (keys) => end({ keys, fetchedAtMs: beganAtMs }),
      () => end(null),
    );
    return begun.keys;
  }

  return {
    isPinned: false,
    get: () => {
      if (kept === null || ageMs(kept.fetchedAtMs) >= USED_FOR_MS) return fetchAndKeep();
      if (ageMs(kept.fetchedAtMs) >= FRESH_FOR_MS && ageMs(askedAtMs) >= MIN_REFETCH_MS)
        fetchAndKeep().catch(() => undefined);
      return Promise.resolve(kept.keys);
    },
    renew: (had) => {
      // A newer document may already be there, fetched in the background or by another call. The minimum interval
      // applies only to a further fetch.
      if (kept !== null && kept.keys !== had) return Promise.resolve(kept.keys);
      const isTooSoon = underWay() === null && ageMs(askedAtMs) < MIN_REFETCH_MS;
      return isTooSoon ? Promise.resolve(null) : fetchAndKeep();
    },
  };
}

/** The document, not checked yet. */
export async function fetchDocument(transport: Transport, call: CallOptions = {}): Promise<JsonValue> {
  const path = '/.well-known/did.json';
  const { body } = await transport.send({ method: 'GET', path, isPublic: true, hasEffect: false, ...call });
  return body;
}

async function fetchKeys(transport: Transport, serviceDid: string): Promise<ServiceKeys> {
  const body = await fetchDocument(transport);
  const read = readServiceKeys(body);
  if (!read.ok || read.keys.did !== serviceDid) {
    throw new SvcError('bad-response', `the DID document at the service's address is not of ${serviceDid}`);
  }
  return read.keys;
}
