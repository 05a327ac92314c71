/** `CryptoPort` on node:crypto, for servers. */
export { nativeCrypto } from '@svc/codec/native';
