/**
 * The hashes of a Merkle tree (RFC 6962 §2.1). Leaves and nodes have different prefixes, because otherwise a node could
 * be presented as a leaf.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';

/**
 * SHA-256 as a port: JavaScript for every runtime, `@svc/merkle/native` for servers. It is synchronous, returns 32
 * newly allocated bytes and keeps no reference to its input, which the caller overwrites for the next hash.
 */
export type Sha256 = (data: Uint8Array) => Uint8Array;

/** SHA-256 in JavaScript, for every runtime. */
export const portableSha256: Sha256 = (data) => sha256(data);

/** Length of a SHA-256 hash, in bytes. */
export const HASH_BYTES = 32;
const LEAF_PREFIX = 0x00;
const NODE_PREFIX = 0x01;

const encoder = new TextEncoder();

/** SHA-256(0x00 ‖ data). A string is taken as UTF-8. */
export const hashLeaf = (data: Uint8Array | string, sha256: Sha256 = portableSha256): Uint8Array => {
  const bytes = typeof data === 'string' ? encoder.encode(data) : data;
  const input = new Uint8Array(1 + bytes.length);
  input[0] = LEAF_PREFIX;
  input.set(bytes, 1);
  return sha256(input);
};

/** One buffer for all nodes: hashing is synchronous, and allocating these bytes would cost as much as the hash. */
const nodeInput = /* @__PURE__ */ Uint8Array.of(NODE_PREFIX, ...new Uint8Array(2 * HASH_BYTES));

/** SHA-256(0x01 ‖ left ‖ right). Each side has 32 bytes. */
export const hashNode = (left: Uint8Array, right: Uint8Array, sha256: Sha256): Uint8Array => {
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + HASH_BYTES);
  return sha256(nodeInput);
};

/** The root of a tree without leaves: SHA-256 of no bytes. */
export const emptyRoot = (sha256: Sha256 = portableSha256): Uint8Array => copyOf(sha256(new Uint8Array(0)));

export const isHash = (bytes: Uint8Array): boolean => bytes.length === HASH_BYTES;

/** Throws RangeError unless `bytes` has 32 bytes: an error of the caller. */
export const assertHash = (bytes: Uint8Array): void => {
  if (!isHash(bytes)) throw new RangeError(`a hash has ${HASH_BYTES} bytes, not ${bytes.length}`);
};

/** Not constant-time, because nothing here is secret. */
export const isSameHash = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
};

/** A copy, which the caller cannot change later. */
export const copyOf = (hash: Uint8Array): Uint8Array => new Uint8Array(hash);

/** 64 lower-case hex characters. */
export const formatHash = (hash: Uint8Array): string => bytesToHex(hash);

const HEX = /^[0-9a-f]{64}$/;

/** The hash in 64 lower-case hex characters, or null. */
export const parseHash = (hex: string): Uint8Array | null => (HEX.test(hex) ? hexToBytes(hex) : null);
