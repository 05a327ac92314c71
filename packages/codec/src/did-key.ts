/**
 * did:key for Ed25519 and the Multikey text inside it (did:key Method §3.1, Controlled Identifiers §2.2.2): `z` +
 * base58btc of the multicodec prefix 0xed 0x01 and the 32 key bytes.
 *
 * Checks the format only; `CryptoPort.isStrictKey` decides whether the key may be used.
 */
import { base58btc } from 'multiformats/bases/base58';
import { BoundedMemo } from './bounded-memo.ts';
import type { Branded } from './branded.ts';

/**
 * A did:key DID of an Ed25519 key (`did:key:z6Mk…`) that has passed its parser. It identifies an Agent (interface
 * §Identifier and value formats).
 */
export type DidKey = Branded<'DidKey'>;

const DID_KEY_PREFIX = 'did:key:';
const ED25519_PREFIX = [0xed, 0x01] as const;
/** 34 bytes with that prefix always take 47 base58 characters; `z` is the 48th. */
const MULTIKEY_CHARS = 48;

interface ParsedDidKey {
  did: DidKey;
  publicKey: Uint8Array;
}

/** The same Agents send many requests, and each request names its Agent twice. */
const MEMO_ENTRIES = 10_000;
const parsedDids = /* @__PURE__ */ new BoundedMemo<ParsedDidKey>(MEMO_ENTRIES);

/** The DID and its 32 key bytes, or null. A DID URL (with a fragment) is not a DID and is refused. */
export const parseDidKey = (text: string): { did: DidKey; publicKey: Uint8Array } | null => {
  if (!text.startsWith(DID_KEY_PREFIX)) return null;
  const known = parsedDids.find(text);
  // A copy, which the caller may change.
  if (known !== undefined) return { did: known.did, publicKey: known.publicKey.slice() };
  const publicKey = decodeMultikey(text.slice(DID_KEY_PREFIX.length));
  if (publicKey === null) return null;
  // A new string: the received one may be a slice of a larger text and would keep all of that in memory.
  const did = formatDidKey(publicKey);
  parsedDids.insert(did, { did, publicKey: publicKey.slice() });
  return { did, publicKey };
};

/** The did:key of a raw 32-byte Ed25519 key. Throws RangeError on another length. */
export const formatDidKey = (publicKey: Uint8Array): DidKey =>
  `${DID_KEY_PREFIX}${encodeMultikey(publicKey)}` as DidKey;

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]*$/;

/** Decodes `z` and base58 of at most the length of a key; null if the text is longer or has another character. */
const decodeBase58 = (text: string): Uint8Array | null => {
  // The decoder does not refuse characters above U+00FF, so a key would have several spellings.
  if (text.length > MULTIKEY_CHARS || !BASE58.test(text)) return null;
  try {
    return base58btc.decode(text);
  } catch {
    return null;
  }
};

/** The 32 bytes of an Ed25519 Multikey (`z6Mk…`), or null. */
export const decodeMultikey = (text: string): Uint8Array | null => {
  const bytes = decodeBase58(text);
  if (bytes?.length !== 34 || bytes[0] !== ED25519_PREFIX[0] || bytes[1] !== ED25519_PREFIX[1]) return null;
  return bytes.slice(2);
};

/** The 32 bytes of a key as bare base58btc text (`publicKeyBase58`), in its one spelling, or null. */
export const decodeBase58Key = (text: string): Uint8Array | null => {
  const bytes = decodeBase58(`z${text}`);
  return bytes?.length === 32 ? bytes : null;
};

/** The Multikey text of a raw 32-byte Ed25519 key. Throws RangeError on another length. */
export const encodeMultikey = (publicKey: Uint8Array): string => {
  if (publicKey.length !== 32) throw new RangeError('an Ed25519 public key has 32 bytes');
  const bytes = new Uint8Array(34);
  bytes.set(ED25519_PREFIX);
  bytes.set(publicKey, 2);
  return base58btc.encode(bytes);
};
