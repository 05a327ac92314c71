/** Revocations that were recorded while what signs status lists was away, put into their lists (protocol §9, decision 52). */
import type { DidWeb } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import type { ServiceError } from '../errors.ts';
import { StoreError } from '../ports/store.ts';
import { type Entry, notSigned, revokeInLists } from './status-list.ts';

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'random' | 'crypto' | 'identity'>;

/**
 * Null: the lists have the bits of all these Grants, which are the Principal's and recorded as revoked. Else why they have not,
 * and nobody may be told that they are revoked everywhere.
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
