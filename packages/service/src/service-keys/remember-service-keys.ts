/**
 * A kid is never used again, because former signatures would no longer verify and former status lists would be
 * unusable. So the database stores every key that was ever published. A start with another key under the same kid, for
 * example with new key files on an old database, is refused before anything is signed.
 */
import { decodeMultikey, encodeBase64url } from '@svc/protocol';
import type { Store } from '../ports/store.ts';
import { KeySetError, type PublishedKey } from './key-set.ts';
import type { ServiceIdentity } from './service-identity.ts';

/**
 * Stores all keys or none. Keys without a private part are retired, because they sign nothing more. Rejects with a
 * `KeySetError` that lists the kids which named other keys before.
 */
export const rememberServiceKeys = async (
  store: Pick<Store, 'transaction'>,
  { receiptKeys, statusKeys }: Pick<ServiceIdentity, 'receiptKeys' | 'statusKeys'>,
): Promise<void> => {
  // In a fixed order, so that nodes that start together do not deadlock.
  const published = [...receiptKeys.published, ...statusKeys.published].sort(byKid);
  await store.transaction(async ({ serviceKeys }) => {
    const reused: Reuse[] = [];
    for (const key of published) {
      const before = await serviceKeys.remember(key.kid, key.publicKeyMultibase);
      if (before !== key.publicKeyMultibase) reused.push({ key, before });
    }
    if (reused.length > 0) throw new KeySetError(explain(reused));
    for (const { kid, canSign } of published) if (!canSign) await serviceKeys.end(kid, 'retired');
  });
};

interface Reuse {
  readonly key: PublishedKey;
  readonly before: string;
}

const byKid = (left: PublishedKey, right: PublishedKey): number => (left.kid < right.kid ? -1 : 1);

const explain = (reused: readonly Reuse[]): string =>
  [
    'the signing keys are not those that this database was used with, and a kid is never used again:',
    ...reused.map(
      ({ key, before }) =>
        `  ${key.kid} was x ${asInJwk(before)} and is now x ${asInJwk(key.publicKeyMultibase)}`,
    ),
    'Start with the key files of before: SVC_RECEIPT_KEYS and SVC_STATUS_KEYS, or receipt-keys.json and',
    'status-keys.json in SVC_DATA_DIR. If their private parts are lost, publish the old public keys under their kids',
    'and put a new key with a number never used before first (docs/operations.md, Keys). For development data that',
    'nobody needs any more: set SVC_DATA_DIR to an empty folder, or DATABASE_URL to an empty database.',
  ].join('\n');

/** The key in the form of a key file, so that a lost public part can be put back. */
const asInJwk = (publicKeyMultibase: string): string => {
  const publicKey = decodeMultikey(publicKeyMultibase);
  return publicKey === null ? publicKeyMultibase : encodeBase64url(publicKey);
};
