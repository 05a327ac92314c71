/**
 * The part of the library that is used here. Buffers of `sodium_malloc` lie between guard pages, are kept out of swap,
 * and are zeroed when freed.
 */
declare module 'sodium-native' {
  export interface Sodium {
    crypto_core_ed25519_is_valid_point(point: Uint8Array): boolean;
    crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean;
    crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secretKey: Uint8Array): void;
    crypto_sign_seed_keypair(publicKey: Uint8Array, secretKey: Uint8Array, seed: Uint8Array): void;
    sodium_malloc(size: number): Buffer;
    sodium_mprotect_readonly(buffer: Buffer): void;
    sodium_mprotect_readwrite(buffer: Buffer): void;
    sodium_memzero(buffer: Buffer): void;
    sodium_free(buffer: Buffer): void;
  }
  const sodium: Sodium;
  export default sodium;
}
