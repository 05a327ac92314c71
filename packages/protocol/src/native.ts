/** `CryptoPort` on node:crypto or another native library, for servers. */
export { nativeCrypto, nativeCryptoBy, privateKeyOfSeed } from '@svc/codec/native';
