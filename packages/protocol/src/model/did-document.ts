/**
 * Verification methods in a Principal's DID document (DID Core §5.2): Ed25519 as `Multikey`, and as `JsonWebKey`
 * on documents that the customer hosts. What cannot be used is passed over; it is not an error of the document.
 */
import {
  type DidWeb,
  decodeBase64url,
  decodeMultikey,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseStrictJson,
} from '@svc/codec';
import { member } from './members.ts';

export interface DidDocument {
  readonly id: DidWeb;
  /** Ed25519 keys listed under `assertionMethod`, by absolute DID URL. Not yet checked for strength. */
  readonly assertionKeys: ReadonlyMap<string, Uint8Array>;
}

/** Parses a document of `did`; null when it is not strict JSON, not an object or has another `id`. */
export const parseDidDocument = (text: string, did: DidWeb): DidDocument | null => {
  const json = parseStrictJson(text);
  if (!json.ok || !isJsonObject(json.value) || member(json.value, 'id') !== did) return null;
  const document = json.value;
  const methods = new Map<string, Uint8Array>();
  const assertionMethod = arrayMember(document, 'assertionMethod');
  for (const method of arrayMember(document, 'verificationMethod')) addMethod(methods, method, did);
  for (const method of assertionMethod) addMethod(methods, method, did);
  const assertionKeys = new Map<string, Uint8Array>();
  for (const entry of assertionMethod) {
    const id = isJsonObject(entry) ? member(entry, 'id') : entry;
    const kid = typeof id === 'string' ? absolute(id, did) : '';
    const key = methods.get(kid);
    if (key !== undefined) assertionKeys.set(kid, key);
  }
  return { id: did, assertionKeys };
};

const arrayMember = (object: JsonObject, name: string): readonly JsonValue[] => {
  const value = member(object, name);
  return Array.isArray(value) ? value : [];
};

const absolute = (id: string, did: DidWeb): string => (id.startsWith('#') ? `${did}${id}` : id);

/** Two methods with one id make that id unusable: which of them was meant cannot be told. */
const addMethod = (methods: Map<string, Uint8Array>, method: JsonValue, did: DidWeb): void => {
  if (!isJsonObject(method)) return;
  const id = member(method, 'id');
  if (typeof id !== 'string') return;
  const kid = absolute(id, did);
  const key = member(method, 'controller') === did ? ed25519KeyOf(method) : null;
  if (key === null || methods.has(kid)) methods.set(kid, new Uint8Array(0));
  else methods.set(kid, key);
};

const ed25519KeyOf = (method: JsonObject): Uint8Array | null => {
  const type = member(method, 'type');
  if (type === 'Multikey') {
    const multibase = member(method, 'publicKeyMultibase');
    return typeof multibase === 'string' ? decodeMultikey(multibase) : null;
  }
  if (type !== 'JsonWebKey') return null;
  const jwk = member(method, 'publicKeyJwk');
  if (!isJsonObject(jwk) || member(jwk, 'kty') !== 'OKP' || member(jwk, 'crv') !== 'Ed25519') return null;
  const x = member(jwk, 'x');
  const key = typeof x === 'string' ? decodeBase64url(x) : null;
  return key?.length === 32 ? key : null;
};
