/**
 * Reads the service's keys from its pinned DID document (interface §DidDocument), the root of trust. The verifier
 * obtained the document over a trusted channel, and parses it once. A signed artifact names its key by `kid`; only
 * strict Ed25519 Multikeys listed under `assertionMethod` are accepted.
 */
import {
  addFailures,
  type CryptoPort,
  decodeMultikey,
  encodeMultikey,
  type Failure,
  type FailureSink,
  failure,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
  parseDidWeb,
  parseStrictJson,
  plainObject,
  show,
} from '@svc/codec';
import { findUntimely, type KeyTime, narrowKeyTime, readKeyTime } from './key-time.ts';

/** All faults of a key or a signature of the service. */
export type ServiceKeyFailureCode =
  /** The pinned service DID document cannot be read. Nothing is known about the signature. */
  | 'malformed-did-document'
  /** The DID document, or the kid, is of another service. */
  | 'wrong-service'
  /**
   * The kid has the right form, but the document has no such key: the document is older than the key, or the service
   * did not sign.
   */
  | 'unknown-key'
  /** The kid has another form or purpose, or its key is not under assertionMethod. */
  | 'wrong-key'
  /**
   * The kid is in the document, but its key is not a strict Ed25519 Multikey, or the time when it is in force is
   * malformed.
   */
  | 'unusable-key'
  /** Valid, but dated outside the time of its key, or the key is compromised: an attestation is needed. */
  | 'key-not-in-force'
  | 'wrong-signature';

/** A fault of a key or a signature of the service: a code, and a message for people. */
export type ServiceKeyFailure = Failure<ServiceKeyFailureCode>;

/** What a key signs: Receipts, or checkpoints and status lists. */
export type KeyPurpose = 'receipt' | 'status';

/** The maximum length of a DID document, in characters. */
export const DID_DOCUMENT_MAX_CHARS = 1_048_576;

/**
 * Reads the document, an object or its text. The result can be passed wherever a service DID document is expected.
 * `pinned`: the time that the verifier has pinned for a key, by Multikey; the document can only narrow it.
 */
export const readServiceKeys = (
  document: unknown,
  pinned: PinnedTimes = new Map(),
):
  | { readonly ok: true; readonly keys: ServiceKeys }
  | { readonly ok: false; readonly failures: readonly ServiceKeyFailure[] } => {
  if (isServiceKeys(document)) return { ok: true, keys: document };
  const refuse = (problem: string) => ({
    ok: false as const,
    failures: [failure('malformed-did-document', problem)],
  });
  const json = readJson(document);
  if (typeof json === 'string') return refuse(`the DID document must be a JSON object: ${json}`);
  const other = ['did_document', 'receipt_id'].find((name) => member(json, name) !== undefined);
  if (other !== undefined)
    return refuse(
      `this is a ${other === 'receipt_id' ? 'Receipt' : 'bundle'}; the DID document is what the service serves at /.well-known/did.json`,
    );
  const did = member(json, 'id');
  if (typeof did !== 'string' || parseDidWeb(did) === null)
    return refuse(`the id of the DID document must be a did:web DID, not ${show(did)}`);
  return { ok: true, keys: new DocumentKeys(did, json, pinned) };
};

/**
 * The same for callers that collect all faults: null if the document cannot be read, with the faults in `failures`. If
 * the document is not of `serviceDid`, that is a failure, but the document is still read.
 */
export const openServiceKeys = (
  document: unknown,
  failures: FailureSink<ServiceKeyFailureCode>,
  serviceDid?: string,
): ServiceKeys | null => {
  const read = readServiceKeys(document);
  if (!read.ok) {
    addFailures(failures, read.failures);
    return null;
  }
  const { did } = read.keys;
  if (serviceDid !== undefined && did !== serviceDid)
    failures.push(failure('wrong-service', `the DID document is of ${did}, not of ${serviceDid}`));
  return read.keys;
};

/** A text says what is wrong. */
const readJson = (document: unknown): JsonObject | string => {
  if (typeof document !== 'string') return plainObject(document) ?? `it is ${show(document)}`;
  if (document.length > DID_DOCUMENT_MAX_CHARS) return 'it is too long';
  const parsed = parseStrictJson(document);
  if (!parsed.ok) return `${parsed.problem} at character ${parsed.offset}`;
  return isJsonObject(parsed.value) ? parsed.value : `it is ${show(parsed.value)}`;
};

type PinnedTimes = ReadonlyMap<string, KeyTime | null>;

/**
 * The published keys of one service. Only `readServiceKeys` makes it; later changes of the document object have no
 * effect on it.
 */
export interface ServiceKeys {
  /** The service's did:web DID. */
  readonly did: string;
  /** Every key that the document names, as a Multikey, usable or not. `time` is null if it is malformed. */
  list(): readonly { readonly kid: string; readonly multikey: string; readonly time: KeyTime | null }[];
  /** The raw key that `kid` names for this purpose, not yet checked for strength; or what is wrong with it. */
  find(kid: string, purpose: KeyPurpose): Uint8Array | ServiceKeyFailure;
  /**
   * Verifies a signature under one of these keys; null if it is valid. `key-not-in-force` means that the signature
   * verifies, but its date cannot be trusted.
   */
  check(purpose: KeyPurpose, signature: ServiceSignature, crypto: CryptoPort): ServiceKeyFailure | null;
}

/**
 * Each published package contains its own copy of this file. This mark identifies the object, so that each package
 * accepts keys that another has read. JSON cannot contain the mark.
 */
const MARK = Symbol.for('@svc/ServiceKeys');

const isServiceKeys = (value: unknown): value is ServiceKeys => {
  try {
    return typeof value === 'object' && value !== null && MARK in value;
  } catch {
    // A proxy that throws.
    return false;
  }
};

class DocumentKeys implements ServiceKeys {
  /** By absolute kid, in document order. A kid with several methods is ambiguous, and is refused. */
  readonly #methods = new Map<string, JsonObject[]>();
  readonly #asserted = new Set<string>();
  readonly #pinned: PinnedTimes;
  /** Decoded keys, cached at first use. */
  readonly #found = new Map<string, FoundKey>();

  constructor(
    readonly did: string,
    document: JsonObject,
    pinned: PinnedTimes,
  ) {
    this.#pinned = pinned;
    for (const method of listOf(member(document, 'verificationMethod'))) {
      const kid = isJsonObject(method) ? absolute(did, member(method, 'id')) : null;
      if (kid === null || !isJsonObject(method)) continue;
      const known = this.#methods.get(kid);
      if (known === undefined) this.#methods.set(kid, [{ ...method }]);
      else known.push({ ...method });
    }
    for (const id of listOf(member(document, 'assertionMethod'))) {
      const kid = absolute(did, id);
      if (kid !== null) this.#asserted.add(kid);
    }
  }

  /** The mark is on the class, not on its objects, so that a spread copy, which has no methods, has no mark either. */
  get [MARK](): true {
    return true;
  }

  list(): readonly { readonly kid: string; readonly multikey: string; readonly time: KeyTime | null }[] {
    return [...this.#methods].flatMap(([kid, methods]) =>
      methods.flatMap((method) => {
        const multikey = member(method, 'publicKeyMultibase');
        return typeof multikey === 'string' ? [{ kid, multikey, time: readKeyTime(method) }] : [];
      }),
    );
  }

  find(kid: string, purpose: KeyPurpose): Uint8Array | ServiceKeyFailure {
    const found = this.#find(kid, purpose);
    return 'key' in found ? found.key : found;
  }

  #find(kid: string, purpose: KeyPurpose): FoundKey | ServiceKeyFailure {
    const { did } = this;
    if (!kid.startsWith(`${did}#`))
      return failure('wrong-service', `the kid ${show(kid)} is not of the pinned service ${did}`);
    const fragment = kid.slice(did.length + 1);
    if (!fragment.startsWith(`${purpose}-`) || !KEY_NUMBER.test(fragment.slice(purpose.length + 1)))
      return failure('wrong-key', `the kid must be ${did}#${purpose}-<n>, not ${show(kid)}`);
    const found = this.#found.get(kid) ?? this.#decode(kid);
    if ('key' in found) this.#found.set(kid, found);
    return found;
  }

  #decode(kid: string): FoundKey | ServiceKeyFailure {
    const { did } = this;
    const [method, ...others] = this.#methods.get(kid) ?? [];
    if (method === undefined)
      return failure(
        'unknown-key',
        `the DID document has no verification method ${kid}; it may be older than the key: obtain it again over a channel that you trust`,
      );
    if (others.length > 0)
      return failure('unusable-key', `the DID document has several verification methods ${kid}`);
    if (!this.#asserted.has(kid))
      return failure('wrong-key', `the DID document does not list ${kid} under assertionMethod`);
    const multikey = member(method, 'publicKeyMultibase');
    const key = typeof multikey === 'string' ? decodeMultikey(multikey) : null;
    if (member(method, 'type') !== 'Multikey' || member(method, 'controller') !== did || key === null)
      return failure('unusable-key', `${kid} must be an Ed25519 Multikey that ${did} controls`);
    const time = readKeyTime(method);
    if (time === null)
      return failure('unusable-key', `${kid} must say by RFC 3339 times in UTC when it is in force`);
    const pinned = this.#pinned.get(encodeMultikey(key)) ?? null;
    return { key, time: pinned === null ? time : narrowKeyTime(time, pinned) };
  }

  check(
    purpose: KeyPurpose,
    { kid, signingInput, signature, signedAtMs }: ServiceSignature,
    crypto: CryptoPort,
  ): ServiceKeyFailure | null {
    const found = this.#find(kid, purpose);
    if (!('key' in found)) return found;
    const { key, time } = found;
    if (crypto.verify(key, signingInput, signature)) {
      const untimely = signedAtMs === null ? null : findUntimely(time, signedAtMs);
      return untimely === null ? null : failure('key-not-in-force', `${kid} ${untimely}`);
    }
    // Verification accepts strict keys only, so it is enough to find out here which of the two failed.
    return crypto.isStrictKey(key)
      ? failure('wrong-signature', `the signature does not verify under ${kid}`)
      : failure('unusable-key', `${kid} must be canonical, torsion-free and not of small order`);
  }
}

/** A signature of the service over a text that names its key by `kid`. */
export interface ServiceSignature {
  readonly kid: string;
  /** Exactly what was signed. */
  readonly signingInput: string;
  readonly signature: Uint8Array;
  /**
   * The instant that the signed text gives as its own. Null: the time of the key is not checked, because something else
   * vouches for the date, or there is none.
   */
  readonly signedAtMs: number | null;
}

interface FoundKey {
  readonly key: Uint8Array;
  readonly time: KeyTime;
}

const KEY_NUMBER = /^[1-9][0-9]*$/;

const listOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);

/** A DID URL may be written relative to its document (DID Core §3.2.2). */
const absolute = (did: string, id: JsonValue | undefined): string | null => {
  if (typeof id !== 'string') return null;
  return id.startsWith('#') ? `${did}${id}` : id;
};
