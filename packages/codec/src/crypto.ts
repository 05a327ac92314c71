/**
 * The cryptography the engine needs, as a synchronous port: JavaScript wherever that is all there is, a native
 * implementation on servers. Every implementation gives the same verdicts (protocol §1).
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { isStrictPublicKey, verifyStrict } from './ed25519.ts';
import { encodeUtf8 } from './utf8.ts';

/** SHA-256 and strict Ed25519, as all that verifies takes them. Nothing here throws on what was received. */
export interface CryptoPort {
  /** SHA-256 as 64 lower-case hex characters. A string is hashed as UTF-8. */
  sha256Hex(data: Uint8Array | string): string;
  /** Whether a raw 32-byte Ed25519 key is canonical, not of small order and torsion-free. Any length may be given. */
  isStrictKey(publicKey: Uint8Array): boolean;
  /** Strict Ed25519 with admission of the key included. A string message is taken as UTF-8. False, never an error. */
  verify(publicKey: Uint8Array, message: Uint8Array | string, signature: Uint8Array): boolean;
}

const toBytes = (data: Uint8Array | string): Uint8Array =>
  typeof data === 'string' ? encodeUtf8(data) : data;

/** Runs wherever JavaScript runs. */
export const portableCrypto: CryptoPort = {
  sha256Hex: (data) => bytesToHex(sha256(toBytes(data))),
  isStrictKey: isStrictPublicKey,
  verify: (publicKey, message, signature) => verifyStrict(publicKey, toBytes(message), signature),
};
