/**
 * Calls that wait until something is so: a request decided (protocol §16), a stream not empty (§17). They hold no connection: a node asks
 * storage for all of them together, twice a second, and for as long as anybody waits.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { rateLimited } from '../errors.ts';

const ASK_EVERY_MS = 500;
/** On a node: of all, and of one subject. */
const MOST = 1_024;
const MOST_EACH = 32;

export class Waits {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #bySubject = new Map<string, number>();
  #count = 0;
  #isAsking = false;
  #isOver = false;

  /** `listOver` answers for which of these ids it is so. */
  constructor(private readonly listOver: (ids: readonly string[]) => Promise<readonly string[]>) {}

  /** Resolves when it is so, when `gone` is, at the latest after `ms`. `RATE_LIMITED`: too many wait here. */
  async until(id: string, subject: string, ms: number, gone: AbortSignal): Promise<void> {
    if (this.#isOver || gone.aborted) return;
    const ofSubject = this.#bySubject.get(subject) ?? 0;
    if (this.#count >= MOST || ofSubject >= MOST_EACH)
      throw rateLimited(
        'Too many calls wait on this node already. Ask without waiting, or wait for fewer.',
        2,
      );
    this.#count += 1;
    this.#bySubject.set(subject, ofSubject + 1);
    const over = new AbortController();
    const wake = () => over.abort();
    const others = this.#waiting.get(id);
    if (others === undefined) this.#waiting.set(id, new Set([wake]));
    else others.add(wake);
    void this.#ask();
    try {
      await delay(ms, undefined, { signal: AbortSignal.any([over.signal, gone]) }).catch(() => {});
    } finally {
      this.#leave(id, subject, wake);
    }
  }

  /** Nobody waits here any more: the node stops, and whoever asks again asks another. */
  end(): void {
    this.#isOver = true;
    for (const wakes of this.#waiting.values()) for (const wake of wakes) wake();
  }

  #leave(id: string, subject: string, wake: () => void): void {
    this.#count -= 1;
    const left = (this.#bySubject.get(subject) ?? 1) - 1;
    if (left === 0) this.#bySubject.delete(subject);
    else this.#bySubject.set(subject, left);
    const others = this.#waiting.get(id);
    others?.delete(wake);
    if (others?.size === 0) this.#waiting.delete(id);
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      while (this.#waiting.size > 0) {
        await delay(ASK_EVERY_MS, undefined, { ref: false });
        for (const id of await this.#listWaitedFor()) for (const wake of this.#waiting.get(id) ?? []) wake();
      }
    } finally {
      this.#isAsking = false;
    }
  }

  /** Where storage does not answer, the next round asks again. */
  async #listWaitedFor(): Promise<readonly string[]> {
    return this.listOver([...this.#waiting.keys()]).catch(() => []);
  }
}
