/**
 * Reads recorded manifests if the service itself has signed them: a reader does not trust what the database says of a
 * day.
 */
import type { CryptoPort } from '@svc/protocol';
import { buildServiceDidDocument, type PublishedIdentity, type ServiceIdentity } from '@svc/service';
import { readServiceKeys, type ServiceKeys } from '@svc/transparency';
import { type ColdDay, verifyColdDay } from './manifest.ts';

type KeysOf = Pick<ServiceIdentity, 'did' | 'receiptKeys' | 'statusKeys' | 'formers'>;

/** Throws Error that says what is wrong. */
export type ReadManifest = (text: string) => ColdDay;

/**
 * Accepts every status key that the service has published so far, under its present DID or a former one: a packed day
 * keeps the manifest that it was packed with. A key that was compromised after it had signed is accepted too: the
 * manifest was recorded before, and the Receipts have their own signatures.
 */
export const manifestReader = (identity: KeysOf, crypto: CryptoPort): ReadManifest => {
  let known: (Omit<KeysOf, 'did'> & { readonly keys: readonly ServiceKeys[] }) | null = null;
  const keysNow = (): readonly ServiceKeys[] => {
    const { did, receiptKeys, statusKeys, formers } = identity;
    if (known?.receiptKeys !== receiptKeys || known.statusKeys !== statusKeys || known.formers !== formers) {
      const keys = [{ did, receiptKeys, statusKeys }, ...formers].map(readKeys);
      known = { receiptKeys, statusKeys, formers, keys };
    }
    return known.keys;
  };
  return (text) => {
    const verified = verifyColdDay(text, keysNow(), crypto);
    if (!verified.ok) throw new Error(`its manifest: ${verified.problem}`);
    return verified.day;
  };
};

const readKeys = (identity: PublishedIdentity): ServiceKeys => {
  const read = readServiceKeys(buildServiceDidDocument(identity));
  if (!read.ok) throw new Error('the keys of the service cannot be read');
  return read.keys;
};
