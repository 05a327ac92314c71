/**
 * A cache of public texts, for the time for which clients may cache them too. While storage does not answer, the cached
 * texts are served, with their age (RFC 9111 §5.1).
 */
import { LRUCache } from 'lru-cache';
import { StoreError } from '../ports/store.ts';

export interface KnownText {
  readonly text: string;
  /** Whole seconds since the text was read; 0 where it was read for this call. */
  readonly ageSeconds: number;
}

const MAX_CHARS = 32_000_000;

export class LastKnown {
  readonly #texts = new LRUCache<string, { readonly text: string; readonly readAtMs: number }>({
    maxSize: MAX_CHARS,
    sizeCalculation: ({ text }, name) => text.length + name.length,
  });

  /** `heldSeconds`: what the answer's `max-age` permits. `nowMs` is monotonic. */
  constructor(
    private readonly heldSeconds: number,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Rejects as `read` does. Where storage is unavailable, it rejects only if no cached text is young enough. */
  async get(name: string, read: () => Promise<string>): Promise<KnownText> {
    const readAtMs = this.nowMs();
    try {
      const text = await read();
      this.#texts.set(name, { text, readAtMs });
      return { text, ageSeconds: 0 };
    } catch (error) {
      const known = this.#texts.get(name);
      if (!(error instanceof StoreError && error.kind === 'unavailable')) {
        this.#texts.delete(name);
        throw error;
      }
      const ageSeconds = known === undefined ? Number.POSITIVE_INFINITY : this.#ageOf(known.readAtMs);
      if (known === undefined || ageSeconds > this.heldSeconds) throw error;
      return { text: known.text, ageSeconds };
    }
  }

  #ageOf(readAtMs: number): number {
    return Math.ceil((this.nowMs() - readAtMs) / 1_000);
  }
}
