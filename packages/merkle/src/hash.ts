/**
 * The hashes of a Merkle tree (RFC 6962 §2.1). The prefixes keep leaves and nodes apart: without them, a node could be
 * passed off as a leaf.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';

/**
 * SHA-256 as a port: JavaScript wherever that is all there is, `@svc/merkle/native` on servers. It answers at once with
 * 32 bytes of its own and does not keep its input, which is written over for the next hash.
 */
export type Sha256 = (data: Uint8Array) => Uint8Array;

/** Runs wherever JavaScript runs. */
export const portableSha256: Sha256 = (data) => sha256(data);

/** The length of a hash: SHA-256. */
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

/** For every node alike: hashing is synchronous, and allocating these bytes costs as much as it. */
const nodeInput = /* @__PURE__ */ Uint8Array.of(NODE_PREFIX, ...new Uint8Array(2 * HASH_BYTES));

/** SHA-256(0x01 ‖ left ‖ right). Both sides have 32 bytes. */
export const hashNode = (left: Uint8Array, right: Uint8Array, sha256: Sha256): Uint8Array => {
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + HASH_BYTES);
  return sha256(nodeInput);
};

/** The root of a tree without leaves: SHA-256 of nothing. */
export const emptyRoot = (sha256: Sha256 = portableSha256): Uint8Array => copyOf(sha256(new Uint8Array(0)));

export const isHash = (bytes: Uint8Array): boolean => bytes.length === HASH_BYTES;

/** Throws RangeError unless there are 32 bytes: a fault of the caller. */
export const assertHash = (bytes: Uint8Array): void => {
  if (!isHash(bytes)) throw new RangeError(`a hash has ${HASH_BYTES} bytes, not ${bytes.length}`);
};

/** Nothing here is secret, so the comparison may stop early. */
export const isSameHash = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
};

/** Bytes that the caller cannot change afterwards. */
export const copyOf = (hash: Uint8Array): Uint8Array => new Uint8Array(hash);

/** 64 lower-case hex characters. */
export const formatHash = (hash: Uint8Array): string => bytesToHex(hash);

const HEX = /^[0-9a-f]{64}$/;

/** The hash in 64 lower-case hex characters, or null. */
export const parseHash = (hex: string): Uint8Array | null => (HEX.test(hex) ? hexToBytes(hex) : null);
