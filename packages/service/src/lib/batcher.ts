/**
 * Gathers what concurrent requests ask for while an earlier batch is under way, and sends it together. There is no
 * timer: with nothing under way an item goes at once, so one request alone loses nothing. Beside a batch under way only
 * a full one is sent: smaller ones would cost a round trip, and a commit its fsync, that waiting a moment saves.
 */
export interface BatcherOptions<Item> {
  /** Of the items' sizes together; an item that is larger goes alone. `MAX_BATCH` unless given. */
  readonly maxBatch?: number;
  /** 2 unless given. */
  readonly maxInFlight?: number;
  /** Of the sizes of the items that wait; what is beyond is refused. 4096 unless given. */
  readonly maxWaiting?: number;
  /** 1 unless given. */
  readonly sizeOf?: (item: Item) => number;
}

export const MAX_BATCH = 64;

export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly size: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export class Batcher<Item, Result> {
  private readonly waiting: Waiting<Item, Result>[] = [];
  private waitingSize = 0;
  private inFlight = 0;
  private readonly options: Required<BatcherOptions<Item>>;

  /** `run` answers one result per item, in the same order; when it rejects, every item of the batch does. */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>,
    { maxBatch = MAX_BATCH, maxInFlight = 2, maxWaiting = 4096, sizeOf = () => 1 }: BatcherOptions<Item> = {},
  ) {
    this.options = { maxBatch, maxInFlight, maxWaiting, sizeOf };
  }

  submit(item: Item): Promise<Result> {
    const size = this.options.sizeOf(item);
    if (this.waitingSize + size > this.options.maxWaiting)
      return Promise.reject(new OverloadedError('too many waiting'));
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, size, resolve, reject });
      this.waitingSize += size;
      this.pump();
    });
  }

  private pump(): void {
    while (this.waitingSize >= this.fewestToSend()) void this.send(this.takeBatch());
  }

  private takeBatch(): Waiting<Item, Result>[] {
    let count = 0;
    let size = 0;
    for (const item of this.waiting) {
      if (count > 0 && size + item.size > this.options.maxBatch) break;
      count += 1;
      size += item.size;
    }
    this.waitingSize -= size;
    return this.waiting.splice(0, count);
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
