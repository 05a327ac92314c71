/** DID documents that the service publishes for managed Principals (DID Core §5.2, protocol §13). */
import { type DidWeb, type JsonObject, jcs } from '@svc/protocol';
import type { PrincipalKeyRecord } from '../ports/principals.ts';

export const CONTEXTS = ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'] as const;

export const multikeyMethod = (controller: DidWeb, kid: string, publicKeyMultibase: string) =>
  ({ id: kid, type: 'Multikey', controller, publicKeyMultibase }) satisfies JsonObject;

type DocumentKey = Pick<PrincipalKeyRecord, 'kid' | 'publicKeyMultibase' | 'state'>;

/**
 * The DID document as RFC 8785 text. It keeps retired keys, so that anybody can check old Grants, and omits compromised
 * ones.
 */
export const buildManagedDidDocument = (did: DidWeb, keys: readonly DocumentKey[]): string => {
  const usable = keys.filter(({ state }) => state !== 'compromised');
  return jcs({
    '@context': [...CONTEXTS],
    id: did,
    verificationMethod: usable.map(({ kid, publicKeyMultibase }) =>
      multikeyMethod(did, kid, publicKeyMultibase),
    ),
    assertionMethod: usable.map(({ kid }) => kid),
  } satisfies JsonObject);
};
