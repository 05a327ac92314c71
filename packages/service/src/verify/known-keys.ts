/**
 * A key counts under a kid only as the service has recorded it (protocol §13). The document says which keys there are;
 * the record says what has become of them. A kid that the record does not know could not be retired or compromised, and
 * other key bytes under a known kid are another key: neither decides anything.
 */
import { isSameBytes } from '@svc/codec';
import { type DidDocument, decodeMultikey, type PrincipalFact } from '@svc/protocol';
import type { KeyState, PrincipalKeyRecord } from '../ports/principals.ts';

/** The document without the keys that the record does not hold under the same kid with the same bytes. */
export const withKnownKeys = (document: DidDocument, keys: readonly PrincipalKeyRecord[]): DidDocument => {
  const assertionKeys = new Map<string, Uint8Array>();
  for (const { kid, publicKeyMultibase } of keys) {
    const inDocument = document.assertionKeys.get(kid);
    const recorded = decodeMultikey(publicKeyMultibase);
    if (inDocument !== undefined && recorded !== null && isSameBytes(inDocument, recorded))
      assertionKeys.set(kid, inDocument);
  }
  return { ...document, assertionKeys };
};

const SEVERITY: Readonly<Record<KeyState, number>> = { active: 0, retired: 1, compromised: 2 };

/**
 * Where the key that `kid` names is in its life. A state belongs to the key, under whatever kid it stands: of all the
 * kids that ever named these bytes the worst state counts, the earliest of those. Null: `kid` was never seen.
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
