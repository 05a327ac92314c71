/** `CryptoPort` on node:crypto or another native library, for servers. */
export { nativeCrypto, nativeCryptoBy } from '@svc/codec/native';
