/**
 * A memo of bounded size that forgets the least recently used entry. Only for pure results: forgetting one costs
 * time, never a different answer.
 */
export class BoundedMemo<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #maxEntries: number;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** How many entries are remembered. */
  get size(): number {
    return this.#entries.size;
  }

  /** The remembered value, now the most recently used one, or undefined. */
  find(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /**
   * Remembers a value as the most recently used one; beyond `maxEntries` the least recently used is forgotten.
   */
  insert(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#maxEntries) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
