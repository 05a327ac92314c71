/** Serves status lists to anybody and keeps each served list as evidence (protocol §9). */
import { LRUCache } from 'lru-cache';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';

const LISTS_REMEMBERED = 10_000;

export class ServedLists {
  /** Hashes of the credentials that this node has already stored as served. */
  readonly #told = new LRUCache<string, true>({ max: LISTS_REMEMBERED });

  /** The credential exactly as it was signed. `NOT_FOUND` when there is no such list. */
  async get(
    { store, identity, clock }: Pick<ServiceDeps, 'store' | 'identity' | 'clock'>,
    domain: string,
    number: string,
  ): Promise<string> {
    // In the path, the colon before a port may be escaped or not; in the stored URL it is escaped.
    const url = `${identity.statusBaseUrl}/${domain.replace(':', '%3A')}/${number}`;
    const stored = await store.verify.findStatusCredential(url);
    if (stored === null) throw notFound('No such status list.');
    const { credential, credentialHash } = stored;
    if (!this.#told.has(credentialHash)) {
      await store.evidence.keepServedList(url, credentialHash, clock.nowMs());
      this.#told.set(credentialHash, true);
    }
    return credential;
  }
}
