/**
 * Loads every key that the service has signed with from the database, as DID documents: one for each DID that the
 * service has had.
 */
import { decodeMultikey, didOfKid, kidOfJws } from '@svc/protocol';
import { readServiceKeys } from '@svc/transparency';
import type { Query } from './query.ts';

/** More than the length of any Receipt, checkpoint or restore statement. */
const MAX_JWS_CHARS = 4_194_304;

export interface ServiceKeys {
  /** The current DID. Null if no key has been used yet. */
  readonly serviceDid: string | null;
  /** All DIDs that the service has had, including the current one. */
  readonly dids: ReadonlySet<string>;
  /**
   * The DID document to verify a JWS of the service with, parsed once. It is the document of the DID that the JWS
   * names, if the service has had that DID; else the current one.
   */
  documentOf(jws: string): unknown;
  /** The documents of all DIDs that the service has had. */
  readonly documents: readonly unknown[];
  /** Raw public keys by kid. */
  readonly byKid: ReadonlyMap<string, Uint8Array>;
}

interface Row {
  readonly kid: string;
  readonly publicKey: string;
}

export const loadServiceKeys = async (query: Query): Promise<ServiceKeys> => {
  const rows = await query<Row>(
    'select kid, public_key as "publicKey" from service_keys order by first_seen_at, kid',
  );
  const pinned = await query<{ did: string }>('select did from service_dids order by number');
  const [first] = rows;
  const found =
    pinned.length > 0 ? pinned.map(({ did }) => did) : first === undefined ? [] : [didOfKid(first.kid)];
  const serviceDid = found.at(-1) ?? null;
  const byKid = new Map<string, Uint8Array>();
  for (const { kid, publicKey } of rows) {
    const key = decodeMultikey(publicKey);
    if (key !== null) byKid.set(kid, key);
  }
  const documents = new Map(found.map((did) => [did, documentWith(did, rows)]));
  const present = documents.get(serviceDid ?? '') ?? documentWith('', []);
  const documentOf = (jws: string) =>
    documents.size < 2 ? present : (documents.get(didOfKid(kidOfJws(jws, MAX_JWS_CHARS) ?? '')) ?? present);
  return { serviceDid, dids: new Set(found), documentOf, documents: [...documents.values()], byKid };
};

const documentWith = (did: string, rows: readonly Row[]): unknown => {
  const own = rows.filter(({ kid }) => didOfKid(kid) === did);
  const document = {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    verificationMethod: own.map(({ kid, publicKey }) => ({
      id: kid,
      type: 'Multikey',
      controller: did,
      publicKeyMultibase: publicKey,
    })),
    assertionMethod: own.map(({ kid }) => kid),
  };
  const read = readServiceKeys(document);
  return read.ok ? read.keys : document;
};
