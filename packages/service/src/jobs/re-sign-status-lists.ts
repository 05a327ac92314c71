/**
 * Status lists follow the service's active key (protocol §9): after a rotation every list that another published key
 * signed is signed anew. Each in a transaction of its own, under the row's lock, which a revocation takes too: the bits
 * signed are those of that moment, and they must be the ones that the former credential says, so that a row that was
 * tampered with never gets the service's word. What is found is told by the credentials themselves, so a round that was
 * cut off is completed by the next, and two at once sign nothing twice.
 */
import { isSameBytes } from '@svc/codec';
import type { ServiceDeps } from '../deps.ts';
import { readOwnCredential } from '../grants/own-credential.ts';
import { setStatusBits, statusListHeader } from '../grants/status-list.ts';
import { type Repositories, StoreError } from '../ports/store.ts';

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'random' | 'crypto' | 'identity' | 'log'>;

/** Lists asked for at once. */
const BATCH = 50;

export interface ReSigned {
  readonly signed: number;
  /** Lists that could not be signed, or must not be. */
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
