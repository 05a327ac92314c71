/**
 * The service's DID document: which keys sign Receipts. Either pinned, or fetched once from the configured address
 * for the configured DID and kept. A Receipt under a key that the kept document does not have yet, as after a key
 * rotation, lets it be fetched again, but seldom: Receipts cannot make a client hammer the service.
 */
import { isJsonObject, type JsonValue } from '@svc/codec';
import type { Transport } from '@svc/sdk-core';
import { SvcError } from '@svc/sdk-core';

export interface ServiceDocument {
  get(): Promise<unknown>;
  /** A newer document for a Receipt whose key this one lacks, or null if it is too soon to ask. */
  renew(): Promise<unknown>;
}

const MIN_REFETCH_MS = 30_000;

export const pinnedDocument = (document: unknown): ServiceDocument => ({
  get: () => Promise.resolve(document),
  renew: () => Promise.resolve(null),
});

/** Fetches are shared between calls, so no caller's signal ends one; the transport's own deadline does. */
export function fetchedDocument(
  transport: Transport,
  serviceDid: string,
  now: () => number,
): ServiceDocument {
  let kept: Promise<JsonValue> | null = null;
  let fetchedAtMs = Number.NEGATIVE_INFINITY;

  function fetchAndKeep(): Promise<JsonValue> {
    const before = kept;
    const fetching = fetchDocument(transport, serviceDid);
    kept = fetching;
    fetchedAtMs = now();
    // A failure is not kept: what there was before is, and the next call tries again.
    fetching.catch(() => {
      if (kept === fetching) kept = before;
    });
    return fetching;
  }

  return {
    get: () => kept ?? fetchAndKeep(),
    renew: () => (now() - fetchedAtMs < MIN_REFETCH_MS ? Promise.resolve(null) : fetchAndKeep()),
  };
}

async function fetchDocument(transport: Transport, serviceDid: string): Promise<JsonValue> {
  const path = '/.well-known/did.json';
  const { body } = await transport.send({ method: 'GET', path, isPublic: true, hasEffect: false });
  if (!isJsonObject(body) || body.id !== serviceDid) {
    throw new SvcError('bad-response', `the DID document at the service's address is not of ${serviceDid}`);
  }
  return body;
}
