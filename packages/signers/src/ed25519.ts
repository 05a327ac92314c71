/**
 * Makes and checks Ed25519 signatures in this process: with libsodium if its binary can be loaded, otherwise with
 * node:crypto. Both accept the same signatures, because the rules of protocol §1 are checked before either is called
 * (decision 63).
 */
import type { KeyObject } from 'node:crypto';
import type { CryptoPort } from '@svc/protocol';
import { nativeCrypto, nativeCryptoBy } from '@svc/protocol/native';
import { messageOf, type SignWith, signByNode } from '@svc/service';
import type { Sodium } from 'sodium-native';

export interface Ed25519 {
  readonly name: 'sodium' | 'node';
  /** Why libsodium is not used; null if it is used. */
  readonly without: string | null;
  readonly crypto: CryptoPort;
  readonly signWith: SignWith;
  /** Zeroes the private keys that it holds. They cannot sign any more. */
  close(): void;
}

export const nodeEd25519 = (without = 'not asked for'): Ed25519 => ({
  name: 'node',
  without,
  crypto: nativeCrypto,
  signWith: signByNode,
  close: () => {},
});

/** Never rejects: a fault of libsodium becomes the reason for not using it. */
export const openEd25519 = async (choice: 'auto' | 'node', load = loadSodium): Promise<Ed25519> => {
  if (choice === 'node') return nodeEd25519('SVC_ED25519=node');
  try {
    return sodiumEd25519(await load());
  } catch (error) {
    return nodeEd25519(messageOf(error));
  }
};

const loadSodium = async (): Promise<Sodium> => (await import('sodium-native')).default;

/**
 * Throws if the library accepts other keys, or checks another equation: libraries and their versions differ in both.
 */
const sodiumEd25519 = (sodium: Sodium): Ed25519 => {
  const crypto = nativeCryptoBy({
    isPrimeOrder: (publicKey) => sodium.crypto_core_ed25519_is_valid_point(publicKey),
    holds: (publicKey, message, signature) =>
      sodium.crypto_sign_verify_detached(signature, message, publicKey),
  });
  const { key, mixedKey, text, honest, torsion } = KNOWN;
  if (!crypto.isStrictKey(bytes(key)) || crypto.isStrictKey(bytes(mixedKey)))
    throw new Error('libsodium admits other keys than protocol §1');
  if (!crypto.verify(bytes(key), text, bytes(honest)) || crypto.verify(bytes(key), text, bytes(torsion)))
    throw new Error('libsodium accepts other signatures than node:crypto');
  return { name: 'sodium', without: null, crypto, ...guardedKeys(sodium) };
};

const bytes = (base64url: string): Uint8Array => new Uint8Array(Buffer.from(base64url, 'base64url'));

/**
 * Test values. `mixedKey` is `key` plus the point of order 2, which libsodium before 1.0.21 takes for a point of prime
 * order (CVE-2025-69277). Both signatures satisfy the equation with cofactor. `torsion`, whose R has a part of small
 * order, does not satisfy the equation without cofactor.
 */
const KNOWN = {
  key: 'I4P0kpNZjP8c5SpRiegGc_gHJRB1f9b8U8muaTbc_WM',
  mixedKey: 'ynwLbWymcwDjGtWudhf5jAf42u-KgCkDrDZRlskjApw',
  text: 'self-test of ed25519',
  honest: 'x5EVdGN7jy9PbEe-MEyyRQQUTl6b7D2vdhyOVHXfw1-_0RHp1j3TLRKX0gh6Spjo2qttIe9DOh-UQQ-ZqrH4Cg',
  torsion: '18QOfftk2b00e7zBAoULVAmJr4IlO0nNb4pKoMIFNrwlcTV_OHBA-ZSjajCrN4A05uavogv14l-A3yL5pkRzBw',
};

const SECRET_BYTES = 64;
const SEED_BYTES = 32;

/** Private keys in guarded memory; each key is stored once, even if its file is read several times. */
const guardedKeys = (sodium: Sodium): Pick<Ed25519, 'signWith' | 'close'> => {
  const secrets = new Map<string, Buffer>();
  const hold = (privateKey: KeyObject): string => {
    // The seed is last in the form of RFC 8410 that OpenSSL writes.
    const der = privateKey.export({ type: 'pkcs8', format: 'der' });
    const publicKey = Buffer.alloc(SEED_BYTES);
    const secret = sodium.sodium_malloc(SECRET_BYTES);
    sodium.crypto_sign_seed_keypair(publicKey, secret, der.subarray(-SEED_BYTES));
    der.fill(0);
    const name = publicKey.toString('hex');
    if (secrets.has(name)) release(sodium, secret);
    else {
      sodium.sodium_mprotect_readonly(secret);
      secrets.set(name, secret);
    }
    return name;
  };
  const signWith: SignWith = (privateKey) => {
    const name = hold(privateKey);
    return (message) => {
      const secret = secrets.get(name);
      if (secret === undefined) throw new Error('the private key is closed');
      const signature = new Uint8Array(64);
      sodium.crypto_sign_detached(signature, message, secret);
      return signature;
    };
  };
  const close = (): void => {
    for (const secret of secrets.values()) {
      sodium.sodium_mprotect_readwrite(secret);
      release(sodium, secret);
    }
    secrets.clear();
  };
  return { signWith, close };
};

/** Zeroes the memory now; the garbage collector frees it later. */
const release = (sodium: Sodium, secret: Buffer): void => {
  sodium.sodium_memzero(secret);
  sodium.sodium_free(secret);
};
