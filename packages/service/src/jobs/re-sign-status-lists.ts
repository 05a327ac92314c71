/**
 * Signs status lists again after a rotation (protocol §9): every list that another published key signed is signed with
 * the service's active key.
 *
 * Each list has its own transaction, under the row lock that a revocation takes too, so the signed bits are the current
 * ones. They must equal the bits of the former credential, so that the service never signs a row that was tampered
 * with. The credentials themselves show which lists are due, so the next round completes one that was interrupted, and
 * two rounds at once sign nothing twice.
 */
import { isSameBytes } from '@svc/codec';
import type { ServiceDeps } from '../deps.ts';
import { readOwnCredential } from '../grants/own-credential.ts';
import { setStatusBits, statusListHeader } from '../grants/status-list.ts';
import { type Repositories, StoreError } from '../ports/store.ts';

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'random' | 'crypto' | 'identity' | 'log'>;

/** Lists that are listed at once. */
const BATCH = 50;

export interface ReSigned {
  readonly signed: number;
  /** Number of lists that could not be signed, or must not be. */
  readonly left: number;
}

/** Begins no further list once `stop` is aborted. Rejects when storage cannot list. */
export const reSignStatusLists = async (deps: Deps, stop: AbortSignal): Promise<ReSigned> => {
  const { signer, published } = deps.identity.statusKeys;
  const headers = published.filter(({ kid }) => kid !== signer.kid).map(({ kid }) => statusListHeader(kid));
  let [signed, left] = [0, 0];
  let after = '';
  while (headers.length > 0 && !stop.aborted) {
    const urls = await deps.store.statusLists.listUrlsByHeader(headers, after, BATCH);
    for (const url of urls) {
      if (stop.aborted) break;
      const outcome = await reSign(deps, url);
      if (outcome === 'signed') signed += 1;
      if (outcome === 'left') left += 1;
      after = url;
    }
    if (urls.length < BATCH) break;
  }
  return { signed, left };
};

type Outcome = 'signed' | 'elsewhere' | 'left';

const reSign = async (deps: Deps, url: string): Promise<Outcome> => {
  try {
    return await deps.store.transaction((tx) => reSignLocked(deps, tx, url));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    deps.log.warn('status_list.not_re_signed', { url, error: error.message });
    return 'left';
  }
};

const reSignLocked = async (deps: Deps, tx: Repositories, url: string): Promise<Outcome> => {
  const list = await tx.statusLists.findForUpdate(url);
  if (list === null) return 'elsewhere';
  const former = readOwnCredential(deps, url, list.credential, { atAnyTime: true });
  const problem =
    'problem' in former ? former.problem : isSameBytes(former.bits, list.bits) ? null : 'other bits';
  if (problem !== null) {
    deps.log.error('status_list.unusable', { url, problem });
    return 'left';
  }
  if ('kid' in former && former.kid === deps.identity.statusKeys.signer.kid) return 'elsewhere';
  await setStatusBits(deps, tx, list, []);
  return 'signed';
};
