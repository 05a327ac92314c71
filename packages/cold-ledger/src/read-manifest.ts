/** Recorded manifests, as far as the service itself has signed them: what the database says of a day is believed by nobody who reads it. */
import type { CryptoPort } from '@svc/protocol';
import { buildServiceDidDocument, type ServiceIdentity } from '@svc/service';
import { readServiceKeys, type ServiceKeys } from '@svc/transparency';
import { type ColdDay, verifyColdDay } from './manifest.ts';

type KeysOf = Pick<ServiceIdentity, 'did' | 'receiptKeys' | 'statusKeys'>;

/** Throws Error with what is wrong. */
export type ReadManifest = (text: string) => ColdDay;

/**
 * With every status key that the service has published by then. A key that was compromised after it had signed still counts: the manifest
 * was recorded before, and the Receipts have signatures of their own.
 */
export const manifestReader = (identity: KeysOf, crypto: CryptoPort): ReadManifest => {
  let known: (KeysOf & { readonly keys: ServiceKeys }) | null = null;
  const keysNow = (): ServiceKeys => {
    const { did, receiptKeys, statusKeys } = identity;
    if (known?.receiptKeys !== receiptKeys || known.statusKeys !== statusKeys) {
      const read = readServiceKeys(buildServiceDidDocument({ did, receiptKeys, statusKeys }));
      if (!read.ok) throw new Error('the keys of the service cannot be read');
      known = { did, receiptKeys, statusKeys, keys: read.keys };
    }
    return known.keys;
  };
  return (text) => {
    const verified = verifyColdDay(text, keysNow(), crypto, { believesDate: true });
    if (!verified.ok) throw new Error(`its manifest: ${verified.problem}`);
    return verified.day;
  };
};
