/** Every key the service has signed with, from the database, as its DID document. */
import { decodeMultikey } from '@svc/protocol';
import { readServiceKeys } from '@svc/transparency';
import type { Query } from './query.ts';

export interface ServiceKeys {
  /** Null if no key was used yet. */
  readonly serviceDid: string | null;
  /** The DID document of these keys, parsed once, to verify Receipts with. */
  readonly document: unknown;
  /** Raw public keys by kid. */
  readonly byKid: ReadonlyMap<string, Uint8Array>;
}

export const loadServiceKeys = async (query: Query): Promise<ServiceKeys> => {
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
  const read = readServiceKeys(document);
  return { serviceDid, document: read.ok ? read.keys : document, byKid };
};
