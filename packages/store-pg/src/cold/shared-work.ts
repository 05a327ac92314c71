/**
 * Work that several callers wait for and that is done once. Each caller queues under its own tenant until the work
 * begins. It begins in the first turn that any of them gets, so no caller is delayed or refused because of another
 * one's tenant.
 */
import { type FairLimiter, type Tenant, untilAborted } from '@svc/service';

interface Wanted {
  readonly begun: AbortController;
  waiting: number;
  result: Promise<unknown> | null;
}

export class SharedWork {
  readonly #queue: FairLimiter;
  readonly #wanted = new Map<string, Wanted>();

  constructor(queue: FairLimiter) {
    this.#queue = queue;
  }

  /** Calls with the same key share the work and its result. The work goes on when `stop` is aborted. */
  run<T>(key: string, tenant: Tenant | null, work: () => Promise<T>, stop?: AbortSignal): Promise<T> {
    const result = this.#wait(key, tenant, work, stop);
    return stop === undefined ? result : untilAborted(result, stop);
  }

  async #wait<T>(
    key: string,
    tenant: Tenant | null,
    work: () => Promise<T>,
    stop: AbortSignal | undefined,
  ): Promise<T> {
    const wanted = this.#wanted.get(key) ?? { begun: new AbortController(), waiting: 0, result: null };
    this.#wanted.set(key, wanted);
    const begin = async () => {
      // Two callers can get their turns before either begins.
      if (wanted.result !== null) return;
      wanted.result = work().finally(() => this.#wanted.delete(key));
      wanted.begun.abort();
      await wanted.result;
    };
    wanted.waiting += 1;
    try {
      const signals = [wanted.begun.signal, ...(stop === undefined ? [] : [stop])];
      if (wanted.result === null) await this.#queue.run({ tenant }, begin, AbortSignal.any(signals));
    } catch (error) {
      if (wanted.result === null) throw error;
    } finally {
      wanted.waiting -= 1;
      if (wanted.waiting === 0 && wanted.result === null) this.#wanted.delete(key);
    }
    return wanted.result as Promise<T>;
  }
}
