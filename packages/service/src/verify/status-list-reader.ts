/**
 * Reads status lists for the engine: the stored credential, with its signature checked under the service's own keys.
 * The bits are cached for less than the maximum age in the trust configuration. A list is unavailable, so that nothing
 * is allowed by it, if it is missing, does not verify or is not the list that was asked for.
 */
import { type Answer, found, type Sha256, type StatusFact, TRUST_CONFIG, unavailable } from '@svc/protocol';
import { getBit } from '@svc/status-list';
import { LRUCache } from 'lru-cache';
import type { ServiceDeps } from '../deps.ts';
import { readOwnCredential } from '../grants/own-credential.ts';

interface LoadedList {
  readonly bits: Uint8Array;
  readonly credentialHash: Sha256;
  readonly validFrom: string;
  readonly loadedAtMs: number;
}

const LISTS_IN_MEMORY = 512;
/** Until 5 s before the engine would refuse the list, so that it does not expire during a verification. */
const USED_FOR_MS = (TRUST_CONFIG.statusListMaxAgeSeconds - 5) * 1000;

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'crypto' | 'identity' | 'log'>;

export class StatusListReader {
  private readonly lists = new LRUCache<string, Promise<LoadedList | null>>({ max: LISTS_IN_MEMORY });

  constructor(private readonly deps: Deps) {}

  /** The bit at `index`. Rejects when storage does not answer. */
  async find(url: string, index: number): Promise<Answer<StatusFact>> {
    const list = await this.get(url);
    if (list === null || index >= list.bits.length * 8) return unavailable;
    const { bits, credentialHash, validFrom, loadedAtMs } = list;
    return found({ revoked: getBit(bits, index), credentialHash, validFrom, checkedAtMs: loadedAtMs });
  }

  /** Drops a list from the cache: the next look-up reads it from storage. */
  forget(url: string): void {
    this.lists.delete(url);
  }

  private async get(url: string): Promise<LoadedList | null> {
    const remembered = await this.lists.get(url);
    if (remembered != null && this.isFresh(remembered)) return remembered;
    const loading = this.load(url);
    this.lists.set(url, loading);
    try {
      const list = await loading;
      if (list === null) this.lists.delete(url);
      return list;
    } catch (error) {
      this.lists.delete(url);
      throw error;
    }
  }

  /** A list that was loaded later than now is not fresh: the clock was set back, so its age is unknown. */
  private isFresh({ loadedAtMs }: LoadedList): boolean {
    const ageMs = this.deps.clock.nowMs() - loadedAtMs;
    return ageMs >= 0 && ageMs < USED_FOR_MS;
  }

  private async load(url: string): Promise<LoadedList | null> {
    const loadedAtMs = this.deps.clock.nowMs();
    const stored = await this.deps.store.verify.findStatusCredential(url);
    if (stored === null) return this.refuse(url, 'not stored');
    const read = readOwnCredential(this.deps, url, stored.credential);
    if ('problem' in read) return this.refuse(url, read.problem);
    const { bits, validFrom, validUntil } = read;
    if (validUntil !== null && Date.parse(validUntil) <= loadedAtMs) return this.refuse(url, 'expired');
    return { bits, credentialHash: stored.credentialHash, validFrom, loadedAtMs };
  }

  private refuse(url: string, problem: string): null {
    this.deps.log.error('status_list.unusable', { url, problem });
    return null;
  }
}
