/**
 * The service's DID document: which keys sign Receipts, and when. Either pinned, or fetched from the configured address for
 * the configured DID and kept for ten minutes at most, so that a key that has leaked is not believed for longer. A
 * Receipt under a key that the kept document does not have yet, as after a key rotation, lets it be fetched again, but seldom:
 * Receipts cannot make a client hammer the service.
 */
import type { JsonValue } from '@svc/codec';
import { readServiceKeys, type ServiceKeys } from '@svc/receipts';
import type { CallOptions, Transport } from '@svc/sdk-core';
import { SvcError } from '@svc/sdk-core';

export interface ServiceDocument {
  /** It is the caller's to replace. */
  readonly isPinned: boolean;
  /** What it says, read once. */
  get(): Promise<ServiceKeys>;
  /** That of a newer document for a Receipt whose key `had`, an answer of `get`, lacks; or null if it is too soon to ask. */
  renew(had: ServiceKeys): Promise<ServiceKeys | null>;
}

/** As long as the service lets caches keep it. From then on it is fetched again beside the calls. */
const FRESH_FOR_MS = 60_000;
/** The age from which a call waits for a newer document, and fails without. */
const USED_FOR_MS = 600_000;
const MIN_REFETCH_MS = 30_000;

/** @throws SvcError `configuration` for what is no DID document */
export function pinnedDocument(document: unknown): ServiceDocument {
  const read = readServiceKeys(document);
  if (!read.ok) {
    const why = read.failures.map(({ message }) => message).join('; ');
    throw new SvcError('configuration', `didDocument: ${why}`);
  }
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
 * Fetches are shared between calls, so no caller's signal or time ends one; the transport's own deadline, `timeoutMs`, does. A
 * call that waits for one ends by itself (`WholeCall`).
 *
 * A fetch is shared only until that deadline by the clock. Edge runtimes drop what a request waits for, its timers too, when
 * its client leaves: such a fetch never ends, and calls of other requests must not wait for it.
 */
export function fetchedDocument(
  transport: Transport,
  serviceDid: string,
  { now, timeoutMs }: { readonly now: () => number; readonly timeoutMs: number },
): ServiceDocument {
  let kept: CachedKeys | null = null;
  let fetching: Fetch | null = null;
  let askedAtMs = Number.NEGATIVE_INFINITY;

  /** In either direction: a clock that was set back says nothing about ages. */
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
    // One that was given up and ends after all neither ends nor replaces what was begun after it.
    const end = (found: CachedKeys | null): void => {
      if (fetching !== begun) return;
      fetching = null;
      kept = found ?? kept;
    };
    // A failure is not kept: what there was before is, until it is too old, and the next call tries again.
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
      // What was begun beside the call, or by another one, may have it: the pause is for asking once more.
      if (kept !== null && kept.keys !== had) return Promise.resolve(kept.keys);
      const isTooSoon = underWay() === null && ageMs(askedAtMs) < MIN_REFETCH_MS;
      return isTooSoon ? Promise.resolve(null) : fetchAndKeep();
    },
  };
}

/** Not checked yet. */
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
