/**
 * Gathers what concurrent requests ask for while an earlier batch is under way, and sends it together. There is no
 * timer: with nothing under way an item goes at once, so one request alone loses nothing. Beside a batch under way only
 * a full one is sent: smaller ones would cost a round trip, and a commit its fsync, that waiting a moment saves.
 *
 * Where more waits than a batch takes, the places in it go round the tenants that wait.
 */
import { rateLimited, serviceUnavailable } from '../errors.ts';
import type { Tenant } from '../ports/tenant.ts';
import { isGuest, pathOf, RoundRobinQueue } from './round-robin-queue.ts';
import { Tally } from './tally.ts';

export interface BatcherOptions {
  readonly maxBatch: number;
  readonly maxInFlight: number;
  /** What comes beyond is refused with `SERVICE_UNAVAILABLE`. Half of them may be of newcomers and the public. */
  readonly maxWaiting: number;
  /** How many of them may be one org's; what comes beyond is refused with `RATE_LIMITED`. Default: all. */
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
  /** Rises with each that waits. */
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

  /** `run` answers one result per item, in the same order; when it rejects, every item of the batch does. */
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

  /** In the order of their coming; whose turn it is goes on from one batch to the next. */
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
