/**
 * Collects the items of concurrent requests while an earlier batch is under way, and sends them together. There is no
 * timer: with no batch under way an item is sent at once, so a single request is not delayed. While a batch is under
 * way, only a full batch is sent. A smaller one would cost a round trip, and a commit also an fsync, which a short wait
 * saves.
 *
 * Where more items wait than a batch takes, the waiting tenants take turns for its places.
 */
import { rateLimited, serviceUnavailable } from '../errors.ts';
import type { Tenant } from '../ports/tenant.ts';
import { isGuest, pathOf, RoundRobinQueue } from './round-robin-queue.ts';
import { Tally } from './tally.ts';

export interface BatcherOptions {
  readonly maxBatch: number;
  readonly maxInFlight: number;
  /**
   * Most items that wait; more are refused with `SERVICE_UNAVAILABLE`. Newcomers and the public may have half of them.
   */
  readonly maxWaiting: number;
  /** Most items of one org that wait; more are refused with `RATE_LIMITED`. Default: `maxWaiting`. */
  readonly maxWaitingOfOrg?: number;
}

const STANDARD: BatcherOptions = {
  maxBatch: 64,
  maxInFlight: 2,
  maxWaiting: 32_768,
  maxWaitingOfOrg: 4_096,
};
const RETRY_AFTER_SECONDS = 1;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly tenant: Tenant | null;
  /** Order of arrival, ascending. */
  readonly number: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export class Batcher<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #options: BatcherOptions;
  readonly #line = new RoundRobinQueue<Waiting<Item, Result>>();
  readonly #waitingOfOrg = new Tally();
  #guestsWaiting = 0;
  #lastNumber = 0;
  #inFlight = 0;

  /** `run` answers one result for each item, in the same order. When it rejects, every item of the batch rejects. */
  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>, options = STANDARD) {
    this.#run = run;
    this.#options = options;
  }

  submit(item: Item, tenant: Tenant | null = null): Promise<Result> {
    const { maxWaiting, maxWaitingOfOrg = maxWaiting } = this.#options;
    const isFull = this.#line.size >= maxWaiting;
    if (isFull || (isGuest(tenant) && this.#guestsWaiting >= maxWaiting / 2))
      return Promise.reject(serviceUnavailable('batcher: too many waiting'));
    if (tenant !== null && this.#waitingOfOrg.of(tenant.org) >= maxWaitingOfOrg)
      return Promise.reject(
        rateLimited(`Too many requests at once: ${maxWaitingOfOrg} wait already.`, RETRY_AFTER_SECONDS),
      );
    return new Promise((resolve, reject) => {
      const number = ++this.#lastNumber;
      this.#line.add(pathOf(tenant), { item, tenant, number, resolve, reject });
      this.#count(tenant, 1);
      this.#pump();
    });
  }

  #count(tenant: Tenant | null, change: 1 | -1): void {
    if (tenant === null) return;
    if (isGuest(tenant)) this.#guestsWaiting += change;
    this.#waitingOfOrg.add(tenant.org, change);
  }

  #pump(): void {
    while (this.#line.size >= this.#fewestToSend()) {
      const batch = this.#takeBatch();
      for (const { tenant } of batch) this.#count(tenant, -1);
      void this.#send(batch);
    }
  }

  /** The items of the next batch, in order of arrival. Turns of tenants continue from one batch to the next. */
  #takeBatch(): readonly Waiting<Item, Result>[] {
    const batch: Waiting<Item, Result>[] = [];
    while (batch.length < this.#options.maxBatch) {
      const next = this.#line.take();
      if (next === undefined) break;
      batch.push(next);
    }
    return batch.sort((one, other) => one.number - other.number);
  }

  #fewestToSend(): number {
    if (this.#inFlight === 0) return 1;
    return this.#inFlight < this.#options.maxInFlight ? this.#options.maxBatch : Number.POSITIVE_INFINITY;
  }

  async #send(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    this.#inFlight++;
    try {
      const results = await this.#run(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, i) => {
        const result = results[i];
        if (result === undefined) reject(new Error('a batch answered too few results'));
        else resolve(result);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#inFlight--;
      this.#pump();
    }
  }
}
