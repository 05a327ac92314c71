/**
 * Bounded concurrency for work that could use up what others need: so much of it at once, the rest waits in order, and no
 * more waits than can be served.
 */
export interface SemaphoreOptions {
  readonly atOnce: number;
  readonly maxWaiting: number;
  /** What is thrown where `maxWaiting` wait already. */
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

  /** Settles as `work` does, which is begun in its turn. Rejects when `signal` is aborted before that. */
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

  /** The place goes straight to the one that has waited longest, so `#running` stays as it is. */
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
