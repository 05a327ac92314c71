/**
 * Verification methods in a Principal's DID document (DID Core §5.2, Controlled Identifiers 1.0 §2.2): Ed25519 keys as
 * `Multikey`, as `JsonWebKey` or in one of the older forms. A method that cannot be used is skipped; it does not make
 * the document invalid. A key that its owner has ended (`revoked`, `expires`) cannot be used from that instant on.
 */
import {
  type DidWeb,
  decodeBase58Key,
  decodeBase64url,
  decodeMultikey,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseDateTime,
  parseJsonOfAnyNumbers,
} from '@svc/codec';
import { member } from './members.ts';

/** The used members of a Principal's DID document (interface §DidDocument). */
export interface DidDocument {
  readonly id: DidWeb;
  /** Ed25519 keys listed under `assertionMethod`, by absolute DID URL. Not yet checked for strength. */
  readonly assertionKeys: ReadonlyMap<string, Uint8Array>;
  /** The instant in ms at which the owner ended a key. Keys without an end are not included. */
  readonly endedFromMs: ReadonlyMap<string, number>;
}

/**
 * Parses a document of `did`. Null if it is not strict JSON, is not an object or has another `id`. Numbers may have any
 * form, since no member that is read is a number.
 */
export const parseDidDocument = (text: string, did: DidWeb): DidDocument | null => {
  const json = parseJsonOfAnyNumbers(text);
  return json.ok && isJsonObject(json.value) ? readDidDocument(json.value, did) : null;
};

/** The same for JSON that is already parsed. Null if it has another `id`. */
export const readDidDocument = (document: JsonObject, did: DidWeb): DidDocument | null => {
  if (member(document, 'id') !== did) return null;
  const methods = new Map<string, Method>();
  const assertionMethod = arrayMember(document, 'assertionMethod');
  for (const method of arrayMember(document, 'verificationMethod')) addMethod(methods, method, did);
  for (const method of assertionMethod) addMethod(methods, method, did);
  const assertionKeys = new Map<string, Uint8Array>();
  const endedFromMs = new Map<string, number>();
  for (const entry of assertionMethod) {
    const id = isJsonObject(entry) ? member(entry, 'id') : entry;
    const kid = typeof id === 'string' ? absolute(id, did) : '';
    const method = methods.get(kid);
    if (method === undefined) continue;
    assertionKeys.set(kid, method.key);
    if (method.endedFromMs !== null) endedFromMs.set(kid, method.endedFromMs);
  }
  return { id: did, assertionKeys, endedFromMs };
};

interface Method {
  readonly key: Uint8Array;
  readonly endedFromMs: number | null;
}

const UNUSABLE: Method = { key: new Uint8Array(0), endedFromMs: null };

const arrayMember = (object: JsonObject, name: string): readonly JsonValue[] => {
  const value = member(object, name);
  return Array.isArray(value) ? value : [];
};

const absolute = (id: string, did: DidWeb): string => (id.startsWith('#') ? `${did}${id}` : id);

/** Two methods with the same id make that id unusable, because it is ambiguous. */
const addMethod = (methods: Map<string, Method>, method: JsonValue, did: DidWeb): void => {
  if (!isJsonObject(method)) return;
  const id = member(method, 'id');
  if (typeof id !== 'string') return;
  const kid = absolute(id, did);
  const key = member(method, 'controller') === did ? ed25519KeyOf(method) : null;
  const ends = endsOf(method);
  if (key === null || ends === null || methods.has(kid)) methods.set(kid, UNUSABLE);
  else methods.set(kid, { key, endedFromMs: ends.length === 0 ? null : Math.min(...ends) });
};

/**
 * The instants of `revoked` and `expires`, with any offset. Null if one of them is not an instant: the key then counts
 * as ended.
 */
const endsOf = (method: JsonObject): readonly number[] | null => {
  const ends: number[] = [];
  for (const name of ['revoked', 'expires']) {
    const value = member(method, name);
    if (value === undefined) continue;
    const ms = typeof value === 'string' ? parseDateTime(value) : null;
    if (ms === null) return null;
    ends.push(ms);
  }
  return ends;
};

/** Members that publish a private key, with which any reader of the document could sign. */
const PRIVATE = [
  'secretKeyMultibase',
  'secretKeyJwk',
  'privateKeyMultibase',
  'privateKeyJwk',
  'privateKeyBase58',
];

const ed25519KeyOf = (method: JsonObject): Uint8Array | null => {
  if (PRIVATE.some((name) => Object.hasOwn(method, name))) return null;
  switch (member(method, 'type')) {
    case 'Multikey':
    case 'Ed25519VerificationKey2020':
      return decodeText(member(method, 'publicKeyMultibase'), decodeMultikey);
    case 'Ed25519VerificationKey2018':
      return decodeText(member(method, 'publicKeyBase58'), decodeBase58Key);
    case 'JsonWebKey':
    case 'JsonWebKey2020':
      return keyOfJwk(member(method, 'publicKeyJwk'));
    default:
      return null;
  }
};

const decodeText = (
  value: JsonValue | undefined,
  decode: (text: string) => Uint8Array | null,
): Uint8Array | null => (typeof value === 'string' ? decode(value) : null);

const ALGORITHMS: readonly unknown[] = [undefined, 'EdDSA', 'Ed25519'];
const USES: readonly unknown[] = [undefined, 'sig'];

/**
 * RFC 7517 §4.2 and §4.4: a key with another purpose verifies nothing. A key with a private part (`d`) is refused,
 * because any reader could sign with it.
 */
const keyOfJwk = (jwk: JsonValue | undefined): Uint8Array | null => {
  if (!isJsonObject(jwk) || member(jwk, 'kty') !== 'OKP' || member(jwk, 'crv') !== 'Ed25519') return null;
  if (!USES.includes(member(jwk, 'use')) || !ALGORITHMS.includes(member(jwk, 'alg'))) return null;
  if (Object.hasOwn(jwk, 'd')) return null;
  const x = member(jwk, 'x');
  const key = typeof x === 'string' ? decodeBase64url(x) : null;
  return key?.length === 32 ? key : null;
};
