/** Reads the manifests of packed days and verifies that a key of the service has signed them. */
import { type ColdDay, verifyColdDay } from '@svc/cold-ledger';
import { nativeCrypto } from '@svc/protocol/native';
import { readServiceKeys } from '@svc/transparency';
import type { CheckContext } from '../check.ts';

/** Throws Error with the fault. */
export type ReadManifest = (text: string) => ColdDay;

export const manifestReaderOf =
  ({ keys }: Pick<CheckContext, 'keys'>): ReadManifest =>
  (text) => {
    const known = keys.documents
      .map((document) => readServiceKeys(document))
      .flatMap((read) => (read.ok ? [read.keys] : []));
    if (known.length === 0) throw new Error('no key of the service is known');
    const verified = verifyColdDay(text, known, nativeCrypto);
    if (!verified.ok) throw new Error(verified.problem);
    return verified.day;
  };
