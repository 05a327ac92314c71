/**
 * Sets of places in a text, as bits: place `i` is the one before character `i`. The patterns of resource-pattern.ts
 * move a whole set at each step. A step costs one operation for every 32 characters, whatever the pattern is.
 */
import type { Span } from './barred-spans.ts';

const SLASH = 0x2f;
const WORD_BITS = 32;
const WORD_RANGE = 2 ** WORD_BITS;

type Bits = Uint32Array<ArrayBuffer>;

export class Places {
  readonly #length: number;
  readonly #words: number;
  /** By character code; bit `i` of an entry is set where character `i` has that code. */
  readonly #occurrences = new Map<number, Bits>();
  /** Bit `i` is set where a wildcard may match character `i`. */
  readonly #passable: Bits;
  readonly #passableWithinSegment: Bits;
  readonly #reached: Bits;

  /** `barred`: the spans that no wildcard matches. */
  constructor(text: string, barred: readonly Span[] = []) {
    this.#length = text.length;
    this.#words = Math.floor(text.length / WORD_BITS) + 1;
    this.#reached = new Uint32Array(this.#words);
    this.#passable = new Uint32Array(this.#words);
    this.#passableWithinSegment = new Uint32Array(this.#words);
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      setBit(this.#occurrencesOf(code), i);
      setBit(this.#passable, i);
      if (code !== SLASH) setBit(this.#passableWithinSegment, i);
    }
    for (const [start, end] of barred)
      for (let i = start; i < end; i++) {
        clearBit(this.#passable, i);
        clearBit(this.#passableWithinSegment, i);
      }
  }

  /** Resets the set to the beginning of the text alone. */
  startOver(): void {
    this.#reached.fill(0);
    this.#reached[0] = 1;
  }

  hasReachedEnd(): boolean {
    const word = this.#reached[this.#words - 1] ?? 0;
    return ((word >>> (this.#length % WORD_BITS)) & 1) === 1;
  }

  /** Moves every place before a character `code` to the place after it, and drops all other places. */
  advance(code: number): void {
    const occurrences = this.#occurrences.get(code);
    if (occurrences === undefined) {
      this.#reached.fill(0);
      return;
    }
    let carry = 0;
    for (let k = 0; k < this.#words; k++) {
      const word = (this.#reached[k] ?? 0) & (occurrences[k] ?? 0);
      this.#reached[k] = (word << 1) | carry;
      carry = word >>> (WORD_BITS - 1);
    }
  }

  /**
   * Adds all later places that a wildcard reaches: those up to the next `/`, or also beyond it if `crossesSlash`.
   * Adding the set to the passable characters as a number carries each place through its run of ones to the place
   * behind the run.
   */
  spread(crossesSlash: boolean): void {
    const passable = crossesSlash ? this.#passable : this.#passableWithinSegment;
    let carry = 0;
    for (let k = 0; k < this.#words; k++) {
      const word = (this.#reached[k] ?? 0) | carry;
      const open = passable[k] ?? 0;
      const leaving = (word & open) >>> 0;
      const sum = leaving + open;
      this.#reached[k] = word | (sum ^ open);
      carry = sum >= WORD_RANGE ? 1 : 0;
    }
  }

  #occurrencesOf(code: number): Bits {
    const known = this.#occurrences.get(code);
    if (known !== undefined) return known;
    const made = new Uint32Array(this.#words);
    this.#occurrences.set(code, made);
    return made;
  }
}

const setBit = (bits: Bits, i: number): void => {
  const k = Math.floor(i / WORD_BITS);
  bits[k] = (bits[k] ?? 0) | (1 << (i % WORD_BITS));
};

const clearBit = (bits: Bits, i: number): void => {
  const k = Math.floor(i / WORD_BITS);
  bits[k] = (bits[k] ?? 0) & ~(1 << (i % WORD_BITS));
};
