/** SHA-256 of node:crypto, for servers. */
import crypto from 'node:crypto';
import type { Sha256 } from './hash.ts';

/** `crypto.hash` is half as fast again on short input, and missing from some runtimes that offer node:crypto. */
const digest: (data: Uint8Array) => Buffer =
  typeof crypto.hash === 'function'
    ? (data) => crypto.hash('sha256', data, 'buffer')
    : (data) => crypto.createHash('sha256').update(data).digest();

export const nativeSha256: Sha256 = (data) => {
  const { buffer, byteOffset, byteLength } = digest(data);
  return new Uint8Array(buffer, byteOffset, byteLength);
};
