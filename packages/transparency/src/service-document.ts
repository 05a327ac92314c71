/**
 * The service's DID document, pinned by whoever checks (interface §DidDocument). It is the root of trust here: the
 * reader obtained it once, over a channel that he trusts. A signed artifact names its key by `kid`, and a key counts
 * only as a strict Ed25519 Multikey listed under `assertionMethod`.
 */
import {
  type CryptoPort,
  decodeMultikey,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseDidWeb,
  parseStrictJson,
} from '@svc/protocol';
import { type Failure, failure, show } from './failure.ts';
import { own } from './own.ts';
import { rememberLast } from './remember-last.ts';

export type ServiceFailureCode =
  /** The pinned service DID document cannot be read. Nothing is known about the signature. */
  | 'malformed-did-document'
  /** The DID document, or the kid, is of another service. */
  | 'wrong-service'
  /** The kid is not in the document, or not under assertionMethod. */
  | 'unknown-key'
  /** The kid is in the document, but is no strict Ed25519 Multikey. */
  | 'unusable-key'
  | 'wrong-signature';

type ServiceFailure = Failure<ServiceFailureCode>;

export interface ServiceDocument {
  readonly did: string;
  readonly json: JsonObject;
}

export const DID_DOCUMENT_MAX_CHARS = 1_048_576;

const parseDocumentText = rememberLast(parseStrictJson);
const decodeKeyText = rememberLast(decodeMultikey);
const parseDid = rememberLast(parseDidWeb);

/** Reads the document, an object or its text, or null with what is wrong in `failures`. */
export const parseServiceDocument = (
  document: unknown,
  failures: ServiceFailure[],
  serviceDid?: string,
): ServiceDocument | null => {
  const json = readDocument(document, failures);
  if (json === null) return null;
  if (own(json, 'receipt_id') !== undefined) {
    const problem = 'this is a Receipt; the DID document is what the service serves at /.well-known/did.json';
    failures.push(failure('malformed-did-document', problem));
    return null;
  }
  const did = own(json, 'id');
  if (typeof did !== 'string' || parseDid(did) === null) {
    failures.push(
      failure('malformed-did-document', `the id of the DID document must be a did:web DID, not ${show(did)}`),
    );
    return null;
  }
  if (serviceDid !== undefined && did !== serviceDid)
    failures.push(failure('wrong-service', `the DID document is of ${did}, not of ${serviceDid}`));
  return { did, json };
};

const readDocument = (document: unknown, failures: ServiceFailure[]): JsonObject | null => {
  const refuse = (problem: string) => {
    failures.push(failure('malformed-did-document', `the DID document must be a JSON object: ${problem}`));
    return null;
  };
  if (typeof document !== 'string')
    return isJsonObject(document) ? document : refuse(`it is ${show(document)}`);
  if (document.length > DID_DOCUMENT_MAX_CHARS) return refuse('it is too long');
  const parsed = parseDocumentText(document);
  if (!parsed.ok) return refuse(`${parsed.problem} at character ${parsed.offset}`);
  return isJsonObject(parsed.value) ? parsed.value : refuse(`it is ${show(parsed.value)}`);
};

/** The key that `kid` names for this purpose, not yet checked for strength, or what is wrong with it. */
export const findServiceKey = (
  document: ServiceDocument,
  kid: string,
  purpose: 'receipt' | 'status',
): { readonly publicKey: Uint8Array } | ServiceFailure => {
  const { did, json } = document;
  if (!kid.startsWith(`${did}#`))
    return failure('wrong-service', `the kid ${show(kid)} is not of the pinned service ${did}`);
  const fragment = kid.slice(did.length + 1);
  if (!fragment.startsWith(`${purpose}-`) || !KEY_NUMBER.test(fragment.slice(purpose.length + 1)))
    return failure('unknown-key', `the kid must be ${did}#${purpose}-<n>, not ${show(kid)}`);
  const methods = arrayOf(own(json, 'verificationMethod')).filter((method) => names(did, idOf(method), kid));
  const [method] = methods;
  if (method === undefined || !isJsonObject(method))
    return failure('unknown-key', `the DID document has no verification method ${kid}`);
  if (methods.length > 1)
    return failure('unusable-key', `the DID document has several verification methods ${kid}`);
  if (!arrayOf(own(json, 'assertionMethod')).some((id) => names(did, id, kid)))
    return failure('unknown-key', `the DID document does not list ${kid} under assertionMethod`);
  const multibase = own(method, 'publicKeyMultibase');
  const publicKey = typeof multibase === 'string' ? decodeKeyText(multibase) : null;
  if (own(method, 'type') !== 'Multikey' || own(method, 'controller') !== did || publicKey === null)
    return failure('unusable-key', `${kid} must be an Ed25519 Multikey that ${did} controls`);
  return { publicKey };
};

const KEY_NUMBER = /^[1-9][0-9]*$/;

const arrayOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);
const idOf = (method: JsonValue): JsonValue | undefined =>
  isJsonObject(method) ? own(method, 'id') : undefined;
const names = (did: string, id: JsonValue | undefined, kid: string): boolean =>
  id === kid || (typeof id === 'string' && id.startsWith('#') && `${did}${id}` === kid);

/** Verifies under a key of the document; null where all is well. */
export const checkServiceSignature = (
  document: ServiceDocument,
  purpose: 'receipt' | 'status',
  signed: { readonly kid: string; readonly signingInput: string; readonly signature: Uint8Array },
  crypto: CryptoPort,
): ServiceFailure | null => {
  const key = findServiceKey(document, signed.kid, purpose);
  if (!('publicKey' in key)) return key;
  if (crypto.verify(key.publicKey, signed.signingInput, signed.signature)) return null;
  // Verification admits strict keys only, so which of the two failed matters only now.
  return crypto.isStrictKey(key.publicKey)
    ? failure('wrong-signature', `the signature does not verify under ${signed.kid}`)
    : failure('unusable-key', `${signed.kid} must be canonical, torsion-free and not of small order`);
};
