/** Status lists as they are served to anybody: what was served is kept as evidence (protocol §9). */
import { LRUCache } from 'lru-cache';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';

const LISTS_REMEMBERED = 10_000;

export class ServedLists {
  /** Credentials that storage has been told of, by this node. */
  readonly #told = new LRUCache<string, true>({ max: LISTS_REMEMBERED });

  /** The credential exactly as it was signed. `NOT_FOUND` when there is no such list. */
  async get(
    { store, identity, clock }: Pick<ServiceDeps, 'store' | 'identity' | 'clock'>,
    domain: string,
    number: string,
  ): Promise<string> {
    // In an address the colon before a port may stand as it is or escaped; in the stored one it is escaped.
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
