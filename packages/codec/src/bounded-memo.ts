/**
 * A memo of bounded size that drops the least recently used entry. Only for pure results: dropping one costs time and
 * never changes an answer.
 */
export class BoundedMemo<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #maxEntries: number;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** Number of entries stored. */
  get size(): number {
    return this.#entries.size;
  }

  /** The stored value, which becomes the most recently used one; or undefined. */
  find(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Stores a value as the most recently used one. Beyond `maxEntries`, drops the least recently used. */
  insert(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#maxEntries) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
