/**
 * Gathers what concurrent requests ask for while an earlier batch is under way, and sends it together. There is no
 * timer: with nothing under way an item goes at once, so one request alone loses nothing. Beside a batch under way only
 * a full one is sent: smaller ones would cost a round trip, and a commit its fsync, that waiting a moment saves.
 */
import { serviceUnavailable } from '../errors.ts';

export interface BatcherOptions {
  readonly maxBatch: number;
  readonly maxInFlight: number;
  /** What comes beyond is refused with `SERVICE_UNAVAILABLE`. */
  readonly maxWaiting: number;
}

const STANDARD: BatcherOptions = { maxBatch: 64, maxInFlight: 2, maxWaiting: 4096 };

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export class Batcher<Item, Result> {
  private readonly waiting: Waiting<Item, Result>[] = [];
  private inFlight = 0;

  /** `run` answers one result per item, in the same order; when it rejects, every item of the batch does. */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly options = STANDARD,
  ) {}

  submit(item: Item): Promise<Result> {
    if (this.waiting.length >= this.options.maxWaiting)
      return Promise.reject(serviceUnavailable('batcher: too many waiting'));
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.pump();
    });
  }

  private pump(): void {
    while (this.waiting.length >= this.fewestToSend())
      void this.send(this.waiting.splice(0, this.options.maxBatch));
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
