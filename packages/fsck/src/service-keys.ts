/** The keys under which the service ever signed, as the database remembers them: they make its DID document. */
import { decodeMultikey, type JsonObject } from '@svc/protocol';
import type { CheckContext } from './check.ts';

export interface ServiceKeys {
  /** Null when no key was ever used. */
  readonly serviceDid: string | null;
  /** The document that Receipts are held against. */
  readonly document: JsonObject;
  /** Raw public keys by kid. */
  readonly byKid: ReadonlyMap<string, Uint8Array>;
}

export const loadServiceKeys = async (query: CheckContext['query']): Promise<ServiceKeys> => {
  const rows = await query<{ kid: string; publicKey: string }>(
    'select kid, public_key as "publicKey" from service_keys order by kid',
  );
  const serviceDid = rows[0]?.kid.split('#', 1)[0] ?? null;
  const byKid = new Map<string, Uint8Array>();
  for (const { kid, publicKey } of rows) {
    const key = decodeMultikey(publicKey);
    if (key !== null) byKid.set(kid, key);
  }
  const document = {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: serviceDid ?? '',
    verificationMethod: rows.map(({ kid, publicKey }) => ({
      id: kid,
      type: 'Multikey',
      controller: serviceDid ?? '',
      publicKeyMultibase: publicKey,
    })),
    assertionMethod: rows.map(({ kid }) => kid),
  };
  return { serviceDid, document, byKid };
};
