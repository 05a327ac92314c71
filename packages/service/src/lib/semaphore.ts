/**
 * Limits concurrent work that could use up a shared resource: a fixed number runs at once, further work waits in order,
 * and the number that waits is limited too.
 */
export interface SemaphoreOptions {
  readonly atOnce: number;
  readonly maxWaiting: number;
  /** The error that is thrown where `maxWaiting` wait already. */
  readonly full: () => Error;
}

export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(options: SemaphoreOptions) {
    if (!(options.atOnce >= 1)) throw new RangeError('atOnce must be at least 1');
    this.#options = options;
  }

  /** Begins `work` in its turn, and settles as `work` does. Rejects when `signal` is aborted before `work` begins. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const { atOnce, maxWaiting, full } = this.#options;
    if (this.#running < atOnce) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.size >= maxWaiting) throw full();
    await new Promise<void>((resolve, reject) => {
      const admit = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(admit);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(admit);
    });
  }

  /** Gives the place directly to the work that has waited longest; then `#running` does not change. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
