/**
 * Gathers what concurrent requests ask for while an earlier batch is under way, and sends it together. There is no
 * timer: with nothing under way an item goes at once, so one request alone loses nothing. Beside a batch under way only
 * a full one is sent: smaller ones would cost a round trip, and a commit its fsync, that waiting a moment saves.
 *
 * Where more waits than a batch takes, the places in it go round the tenants that wait.
 */
import { rateLimited, serviceUnavailable } from '../errors.ts';
import type { Tenant } from '../ports/tenant.ts';
import { FairLine } from './fair-line.ts';

export interface BatcherOptions {
  readonly maxBatch: number;
  readonly maxInFlight: number;
  /** What comes beyond is refused with `SERVICE_UNAVAILABLE`. */
  readonly maxWaiting: number;
  /** Of these, of one org; what comes beyond is refused with `RATE_LIMITED`. Default: all. */
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
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export class Batcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private readonly waitingOfOrg = new Map<string, number>();
  private inFlight = 0;

  /** `run` answers one result per item, in the same order; when it rejects, every item of the batch does. */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly options = STANDARD,
  ) {}

  submit(item: Item, tenant: Tenant | null = null): Promise<Result> {
    const { maxWaiting, maxWaitingOfOrg = maxWaiting } = this.options;
    if (this.waiting.length >= maxWaiting)
      return Promise.reject(serviceUnavailable('batcher: too many waiting'));
    if (tenant !== null && (this.waitingOfOrg.get(tenant.org) ?? 0) >= maxWaitingOfOrg)
      return Promise.reject(
        rateLimited(`Too many requests at once: ${maxWaitingOfOrg} wait already.`, RETRY_AFTER_SECONDS),
      );
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, tenant, resolve, reject });
      this.count(tenant, 1);
      this.pump();
    });
  }

  private count(tenant: Tenant | null, change: number): void {
    if (tenant === null) return;
    const count = (this.waitingOfOrg.get(tenant.org) ?? 0) + change;
    if (count === 0) this.waitingOfOrg.delete(tenant.org);
    else this.waitingOfOrg.set(tenant.org, count);
  }

  private pump(): void {
    while (this.waiting.length >= this.fewestToSend()) {
      const batch = this.takeBatch();
      for (const { tenant } of batch) this.count(tenant, -1);
      void this.send(batch);
    }
  }

  /** Whoever has waited longest has the first turn of its tenant, and its tenant the first turn of all. */
  private takeBatch(): readonly Waiting<Item, Result>[] {
    const { maxBatch } = this.options;
    if (this.waiting.length <= maxBatch) return this.waiting.splice(0);
    const line = new FairLine<Waiting<Item, Result>>();
    for (const one of this.waiting) line.add(pathOf(one), one);
    const taken = new Set<Waiting<Item, Result>>();
    while (taken.size < maxBatch) {
      const next = line.take();
      if (next === undefined) break;
      taken.add(next);
    }
    const batch = this.waiting.filter((one) => taken.has(one));
    this.waiting = this.waiting.filter((one) => !taken.has(one));
    return batch;
  }

  private fewestToSend(): number {
    if (this.inFlight === 0) return 1;
    return this.inFlight < this.options.maxInFlight ? this.options.maxBatch : Number.POSITIVE_INFINITY;
  }

  private async send(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    this.inFlight++;
    try {
      const results = await this.run(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, i) => {
        const result = results[i];
        if (result === undefined) reject(new Error('a batch answered too few results'));
        else resolve(result);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.inFlight--;
      this.pump();
    }
  }
}

const pathOf = ({ tenant }: { readonly tenant: Tenant | null }): readonly string[] =>
  tenant === null ? [] : [tenant.org, tenant.subject];
