/**
 * Puts revocations into their lists that were recorded while the signer of status lists was unavailable (protocol §9,
 * decision 52).
 */
import type { DidWeb } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import type { ServiceError } from '../errors.ts';
import { StoreError } from '../ports/store.ts';
import { type Entry, notSigned, revokeInLists } from './status-list.ts';

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'random' | 'crypto' | 'identity'>;

/**
 * Sets the bits of Grants of the Principal that are recorded as revoked. Null: the lists now have the bits of all of
 * them. Otherwise the reason why not; then nobody may be told that they are revoked everywhere.
 */
export const publishRevoked = async (
  deps: Deps,
  principal: DidWeb,
  grants: readonly Entry[],
): Promise<ServiceError | StoreError | null> => {
  try {
    await deps.store.transaction((tx) => revokeInLists(deps, tx, grants), {
      lane: 'urgent',
      exclusiveKey: principal,
    });
    return null;
  } catch (error) {
    return error instanceof StoreError ? error : notSigned(error);
  }
};
