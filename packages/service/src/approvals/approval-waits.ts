/**
 * Calls that wait until a request is decided (protocol §16). They hold no connection: a node asks storage for all of them together, twice
 * a second, and for as long as anybody waits.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceDeps } from '../deps.ts';
import { rateLimited } from '../errors.ts';

const ASK_EVERY_MS = 500;
/** On a node: of all, and of one relying party. */
const MOST = 1_024;
const MOST_EACH = 32;

export class ApprovalWaits {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #bySubject = new Map<string, number>();
  #count = 0;
  #isAsking = false;
  #isOver = false;

  constructor(private readonly deps: Pick<ServiceDeps, 'store'>) {}

  /** Resolves when the request is decided or due, at the latest after `ms`. `RATE_LIMITED`: too many wait here. */
  async until(id: string, subject: string, ms: number): Promise<void> {
    if (this.#isOver) return;
    const ofSubject = this.#bySubject.get(subject) ?? 0;
    if (this.#count >= MOST || ofSubject >= MOST_EACH)
      throw rateLimited('Too many calls wait on this node already. Ask without wait, or wait for fewer.', 2);
    this.#count += 1;
    this.#bySubject.set(subject, ofSubject + 1);
    const over = new AbortController();
    const wake = () => over.abort();
    const others = this.#waiting.get(id);
    if (others === undefined) this.#waiting.set(id, new Set([wake]));
    else others.add(wake);
    void this.#ask();
    try {
      await delay(ms, undefined, { signal: over.signal }).catch(() => {});
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
        for (const id of await this.#listDecided()) for (const wake of this.#waiting.get(id) ?? []) wake();
      }
    } finally {
      this.#isAsking = false;
    }
  }

  /** Where storage does not answer, the next round asks again. */
  async #listDecided(): Promise<readonly string[]> {
    return this.deps.store.approvals.listDecided([...this.#waiting.keys()]).catch(() => []);
  }
}
