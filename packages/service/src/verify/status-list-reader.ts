/**
 * Reads status lists for the engine: the stored credential, with its signature checked under the service's own keys.
 * The bits are cached for less than the maximum age in the trust configuration, and requests that need the same list at
 * the same time share one load. A list is unavailable, so that nothing is allowed by it, if it is missing, does not
 * verify or is not the list that was asked for.
 */
import { type Answer, found, type Sha256, type StatusFact, TRUST_CONFIG, unavailable } from '@svc/protocol';
import { getBit } from '@svc/status-list';
import { LRUCache } from 'lru-cache';
import type { ServiceDeps } from '../deps.ts';
import { type OwnCredential, readOwnCredential } from '../grants/own-credential.ts';

interface CheckedList extends OwnCredential {
  readonly credentialHash: Sha256;
  /** The service's keys under which the credential was checked. */
  readonly keys: ServiceDeps['identity']['statusKeys']['published'];
}

interface Load {
  /** When the load began. */
  readonly loadedAtMs: number;
  readonly list: Promise<CheckedList | null>;
}

const LISTS_IN_MEMORY = 512;
/** Until 5 s before the engine would refuse the list, so that it does not expire during a verification. */
const USED_FOR_MS = (TRUST_CONFIG.statusListMaxAgeSeconds - 5) * 1000;

type Deps = Pick<ServiceDeps, 'store' | 'clock' | 'crypto' | 'identity' | 'log'>;

export class StatusListReader {
  private readonly loads = new LRUCache<string, Load>({ max: LISTS_IN_MEMORY });
  /** As checked last. A list is checked again where its stored credential has another hash or the service other keys. */
  private readonly checked = new LRUCache<string, CheckedList>({ max: LISTS_IN_MEMORY });

  constructor(private readonly deps: Deps) {}

  /** The bit at `index`. Rejects when storage does not answer. */
  async find(url: string, index: number): Promise<Answer<StatusFact>> {
    const { list: loading, loadedAtMs } = this.get(url);
    const list = await loading;
    if (list === null || index >= list.bits.length * 8) return unavailable;
    const { bits, credentialHash, validFrom } = list;
    return found({ revoked: getBit(bits, index), credentialHash, validFrom, checkedAtMs: loadedAtMs });
  }

  /** Drops a list from the cache, also one that is being loaded: the next look-up reads it from storage. */
  forget(url: string): void {
    this.loads.delete(url);
  }

  private get(url: string): Load {
    const known = this.loads.get(url);
    if (known !== undefined && this.isFresh(known)) return known;
    const loadedAtMs = this.deps.clock.nowMs();
    const load = { loadedAtMs, list: this.load(url, loadedAtMs) };
    this.loads.set(url, load);
    const drop = () => {
      if (this.loads.peek(url) === load) this.loads.delete(url);
    };
    load.list.then((list) => list ?? drop(), drop);
    return load;
  }

  /** A list that was loaded later than now is not fresh: the clock was set back, so its age is unknown. */
  private isFresh({ loadedAtMs }: Load): boolean {
    const ageMs = this.deps.clock.nowMs() - loadedAtMs;
    return ageMs >= 0 && ageMs < USED_FOR_MS;
  }

  private async load(url: string, loadedAtMs: number): Promise<CheckedList | null> {
    const stored = await this.deps.store.verify.findStatusCredential(url);
    if (stored === null) return this.refuse(url, 'not stored');
    const { credential, credentialHash } = stored;
    const keys = this.deps.identity.statusKeys.published;
    const known = this.checked.get(url);
    const isKnown = known?.credentialHash === credentialHash && known.keys === keys;
    const read = isKnown ? known : readOwnCredential(this.deps, url, credential);
    if ('problem' in read) return this.refuse(url, read.problem);
    const { validUntil } = read;
    if (validUntil !== null && Date.parse(validUntil) <= loadedAtMs) return this.refuse(url, 'expired');
    const list = { ...read, credentialHash, keys };
    this.checked.set(url, list);
    return list;
  }

  private refuse(url: string, problem: string): null {
    this.deps.log.error('status_list.unusable', { url, problem });
    return null;
  }
}
