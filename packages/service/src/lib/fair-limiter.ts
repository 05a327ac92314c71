/**
 * Limits concurrent work, and shares the places fairly:
 *
 * - waiting tenants take turns, and an org has at most `atOncePerOrg` places;
 * - work with the same exclusive key runs one after another;
 * - the number of waiting entrants and their waiting time are limited.
 *
 * A place is given only to work that can begin, so work that waits for its exclusive key takes no place from other
 * work.
 */
import type { Tenant } from '../ports/tenant.ts';
import { isGuest, pathOf, RoundRobinQueue } from './round-robin-queue.ts';
import { Tally } from './tally.ts';

export interface FairLimiterOptions {
  readonly atOnce: number;
  /** Most places of one org, and of all newcomers together. Does not limit the service's own work. */
  readonly atOncePerOrg: number;
  /** Newcomers and the public may have half of these. */
  readonly maxWaiting: number;
  /** Longest wait for a place, in milliseconds. */
  readonly waitMs: number;
  /** The error that is thrown where `maxWaiting` wait already, or the wait was too long. */
  readonly refuse: (why: string) => Error;
}

/** The tenant that wants a place, and the exclusive key of its work. */
export interface Entrant {
  /** Null: the service itself, which takes turns with all tenants together. */
  readonly tenant: Tenant | null;
  /** Work with the same key runs one after another. */
  readonly exclusiveKey?: string | undefined;
}

interface Waiting extends Entrant {
  readonly begin: () => void;
}

export class FairLimiter {
  readonly #options: FairLimiterOptions;
  readonly #line = new RoundRobinQueue<Waiting>();
  readonly #exclusive = new Set<string>();
  readonly #perHolder = new Tally();
  #running = 0;
  #guestsWaiting = 0;

  constructor(options: FairLimiterOptions) {
    if (!(options.atOnce >= 1 && options.atOncePerOrg >= 1))
      throw new RangeError('atOnce and atOncePerOrg must be at least 1');
    this.#options = options;
  }

  /** Number of waiting entrants. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Begins `work` in its turn, and settles as `work` does. Rejects when `signal` is aborted before `work` begins. */
  async run<T>(entrant: Entrant, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#mayBegin(entrant)) this.#begin(entrant);
    else await this.#wait(entrant, signal);
    try {
      return await work();
    } finally {
      this.#leave(entrant);
    }
  }

  /**
   * As `run`, for work shared by several entrants. Each of them waits in the queue, and the work begins in the first
   * turn of any of them. So an entrant with much other work does not delay those that share this work.
   */
  async runForAny<T>(entrants: readonly Entrant[], work: () => Promise<T>): Promise<T> {
    const begun = new AbortController();
    let result: Promise<T> | undefined;
    const begin = async () => {
      // Two entrants can get their turn before either begins.
      if (begun.signal.aborted) return;
      begun.abort();
      result = work();
      await result;
    };
    const turns = await Promise.allSettled(entrants.map((one) => this.run(one, begin, begun.signal)));
    if (result !== undefined) return result;
    const refused = turns.find((turn) => turn.status === 'rejected');
    throw refused?.reason ?? new Error('work of nobody');
  }

  /**
   * While a place is free, no waiting entrant may begin. So an entrant that may begin at once overtakes none of them.
   */
  readonly #mayBegin = ({ tenant, exclusiveKey }: Entrant): boolean => {
    const { atOnce, atOncePerOrg } = this.#options;
    if (this.#running >= atOnce || (exclusiveKey !== undefined && this.#exclusive.has(exclusiveKey)))
      return false;
    return tenant === null || this.#perHolder.of(holderOf(tenant)) < atOncePerOrg;
  };

  #begin({ tenant, exclusiveKey }: Entrant): void {
    this.#running += 1;
    if (exclusiveKey !== undefined) this.#exclusive.add(exclusiveKey);
    if (tenant !== null) this.#perHolder.add(holderOf(tenant), 1);
  }

  #leave({ tenant, exclusiveKey }: Entrant): void {
    this.#running -= 1;
    if (exclusiveKey !== undefined) this.#exclusive.delete(exclusiveKey);
    if (tenant !== null) this.#perHolder.add(holderOf(tenant), -1);
    while (this.#running < this.#options.atOnce) {
      const next = this.#line.take(this.#mayBegin);
      if (next === undefined) return;
      this.#begin(next);
      next.begin();
    }
  }

  async #wait(entrant: Entrant, signal: AbortSignal | undefined): Promise<void> {
    const { maxWaiting, waitMs, refuse } = this.#options;
    const guests = isGuest(entrant.tenant) ? 1 : 0;
    if (this.#line.size >= maxWaiting) throw refuse('too many wait');
    if (guests > 0 && this.#guestsWaiting >= maxWaiting / 2) throw refuse('too many newcomers wait');
    const path = pathOf(entrant.tenant);
    let timer: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    this.#guestsWaiting += guests;
    try {
      await new Promise<void>((resolve, reject) => {
        const waiting = { ...entrant, begin: resolve };
        const giveUp = (why: unknown) => {
          if (this.#line.delete(path, waiting)) reject(why);
        };
        onAbort = () => giveUp(signal?.reason);
        timer = setTimeout(() => giveUp(refuse(`its turn did not come within ${waitMs} ms`)), waitMs);
        signal?.addEventListener('abort', onAbort, { once: true });
        this.#line.add(path, waiting);
      });
    } finally {
      this.#guestsWaiting -= guests;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }
}

const holderOf = ({ crowd, org }: Tenant): string => (crowd === 'newcomers' ? crowd : org);
