/** The engine of `svc-conformance serve`: native cryptography, Receipts signed with the published test key. */
import { createHash, sign } from 'node:crypto';
import { privateKeyOfSeed } from '@svc/codec/native';
import { nativeCrypto } from '@svc/protocol/native';
import packageJson from '../../package.json' with { type: 'json' };
import type { ConformanceEngine } from '../endpoint.ts';
import { createEngine } from '../engine.ts';

/** The seed is public (vectors/keys.json), so its signatures show only that the bytes can be reproduced. */
const testReceiptKey = () => {
  const seed = createHash('sha256').update('svc test vector key, not a secret: service receipt 1').digest();
  return privateKeyOfSeed(seed);
};

/** Our own engine, which signs with the published test key. */
export const createOwnEngine = (): ConformanceEngine => {
  const key = testReceiptKey();
  return createEngine({
    name: 'svc',
    version: packageJson.version,
    crypto: nativeCrypto,
    receiptSigner: { kid: 'did:web:svc.example#receipt-1', sign: (bytes) => sign(null, bytes, key) },
  });
};
