/**
 * A key is used under a kid only as the service has recorded it (protocol §13). The document lists the keys; the record
 * has their states. A key is ignored if its kid is not recorded, because it could not be retired or marked compromised.
 * It is also ignored if its bytes differ from those recorded under its kid, because it is another key.
 */
import { isSameBytes } from '@svc/codec';
import { type DidDocument, decodeMultikey, type PrincipalFact } from '@svc/protocol';
import type { KeyState, PrincipalKeyRecord } from '../ports/principals.ts';

/**
 * The document with only those keys that are recorded under the same kid with the same bytes. It contains no part of the
 * document's text, which a substring would keep in memory as a whole: the kids are those of the record.
 */
export const withKnownKeys = (document: DidDocument, keys: readonly PrincipalKeyRecord[]): DidDocument => {
  const assertionKeys = new Map<string, Uint8Array>();
  const endedFromMs = new Map<string, number>();
  for (const { kid, publicKeyMultibase } of keys) {
    const inDocument = document.assertionKeys.get(kid);
    const recorded = decodeMultikey(publicKeyMultibase);
    if (inDocument === undefined || recorded === null || !isSameBytes(inDocument, recorded)) continue;
    assertionKeys.set(kid, inDocument);
    const endMs = document.endedFromMs.get(kid);
    if (endMs !== undefined) endedFromMs.set(kid, endMs);
  }
  return { id: document.id, assertionKeys, endedFromMs };
};

const SEVERITY: Readonly<Record<KeyState, number>> = { active: 0, retired: 1, compromised: 2 };

/**
 * The state of the key that `kid` names. A state belongs to the key bytes, not to the kid: of all kids that ever named
 * these bytes, the worst state is used, and of several with that state the earliest. Null: `kid` was never seen.
 */
export const keyStateOf = (keys: readonly PrincipalKeyRecord[], kid: string): PrincipalFact['key'] => {
  const named = keys.find((key) => key.kid === kid);
  if (named === undefined) return null;
  const worst = keys
    .filter(({ publicKeyMultibase }) => publicKeyMultibase === named.publicKeyMultibase)
    .reduce((a, b) => (isWorse(b, a) ? b : a), named);
  return { state: worst.state, sinceMs: worst.sinceMs };
};

const isWorse = (a: PrincipalKeyRecord, b: PrincipalKeyRecord): boolean =>
  SEVERITY[a.state] > SEVERITY[b.state] || (a.state === b.state && a.sinceMs < b.sinceMs);
