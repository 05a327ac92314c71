/** Recorded manifests, as far as the service itself has signed them: what the database says of a day is believed by nobody who reads it. */
import type { CryptoPort } from '@svc/protocol';
import { buildServiceDidDocument, type ServiceIdentity } from '@svc/service';
import { readServiceKeys } from '@svc/transparency';
import { type ColdDay, verifyColdDay } from './manifest.ts';

/** Throws Error with what is wrong. */
export type ReadManifest = (text: string) => ColdDay;

/**
 * With every status key that the service has published by then. A key that was compromised after it had signed still counts: the manifest
 * was recorded before, and the Receipts have signatures of their own.
 */
export const manifestReader =
  (identity: Pick<ServiceIdentity, 'did' | 'receiptKeys' | 'statusKeys'>, crypto: CryptoPort): ReadManifest =>
  (text) => {
    const read = readServiceKeys(buildServiceDidDocument(identity));
    if (!read.ok) throw new Error('the keys of the service cannot be read');
    const verified = verifyColdDay(text, read.keys, crypto, { believesDate: true });
    if (!verified.ok) throw new Error(`its manifest: ${verified.problem}`);
    return verified.day;
  };
