/**
 * Strict JSON (protocol §1): RFC 8259 without the texts in which two readers can see different values. Refused are a
 * byte order mark, a second member of the same name at any depth, nesting deeper than 32, lone surrogates, U+0000, and
 * every number that is not an integer within ±(2^53 − 1) written without fraction or exponent. `-0` is read as 0.
 *
 * One pass, no exceptions; the nesting limit bounds the recursion. The objects are ordinary ones and `__proto__` is an
 * ordinary own member in them, so a look-up by an untrusted name needs `Object.hasOwn`.
 */
import type { JsonValue } from './json.ts';

/** The value that was read, or what is wrong with the text and where. */
export type StrictJsonResult =
  | { readonly ok: true; readonly value: JsonValue }
  | {
      readonly ok: false;
      /** What is wrong, without quoting the input. */
      readonly problem: string;
      /** Where, in UTF-16 code units from the start. */
      readonly offset: number;
    };

/** The maximum nesting of arrays and objects. */
export const MAX_JSON_DEPTH = 32;

/** Parses strict JSON (see the head of this file). Never throws; a refusal is a `problem` with its position. */
export const parseStrictJson = (text: string): StrictJsonResult =>
  read(new Reader(text, false, MAX_JSON_DEPTH));

/**
 * The same for texts whose authors may use other numbers, such as a latitude. Numbers may have any form of RFC 8259.
 * One that strict JSON refuses is read as null; callers never use such numbers. `around`: how many levels of nesting
 * may surround such a text here; it is added to the depth allowed for the text itself.
 */
export const parseJsonOfAnyNumbers = (text: string, around = 0): StrictJsonResult =>
  read(new Reader(text, true, MAX_JSON_DEPTH + around));

const read = (reader: Reader): StrictJsonResult => {
  const value = reader.document();
  return value === undefined
    ? { ok: false, problem: reader.problem, offset: reader.offset }
    : { ok: true, value };
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const ARRAY_START = 0x5b;
const ARRAY_END = 0x5d;
const OBJECT_START = 0x7b;
const OBJECT_END = 0x7d;

/** Every method that reads a value moves `offset` behind that value, or records a problem and returns undefined. */
class Reader {
  problem = '';
  offset = 0;
  readonly #text: string;
  readonly #takesAnyNumber: boolean;
  readonly #maxDepth: number;
  #depth = 0;

  constructor(text: string, takesAnyNumber: boolean, maxDepth: number) {
    this.#text = text;
    this.#takesAnyNumber = takesAnyNumber;
    this.#maxDepth = maxDepth;
  }

  document(): JsonValue | undefined {
    if (this.#text.charCodeAt(0) === 0xfeff) return this.#fail('byte order mark');
    this.#skipSpace();
    const value = this.#value();
    if (value === undefined) return undefined;
    this.#skipSpace();
    return this.offset === this.#text.length ? value : this.#fail('text after the value');
  }

  #fail(problem: string, offset = this.offset): undefined {
    this.problem = problem;
    this.offset = offset;
    return undefined;
  }

  /** NaN at the end of the text, which is not equal to any character. */
  #peek(): number {
    return this.#text.charCodeAt(this.offset);
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#peek();
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.offset++;
    }
  }

  #take(code: number): boolean {
    if (this.#peek() !== code) return false;
    this.offset++;
    return true;
  }

  #value(): JsonValue | undefined {
    const code = this.#peek();
    switch (code) {
      case QUOTE:
        return this.#string();
      case OBJECT_START:
        return this.#object();
      case ARRAY_START:
        return this.#array();
      case 0x74:
        return this.#literal('true', true);
      case 0x66:
        return this.#literal('false', false);
      case 0x6e:
        return this.#literal('null', null);
      default:
        if (code === MINUS || isDigit(code)) return this.#takesAnyNumber ? this.#number() : this.#integer();
        return this.#fail(this.offset === this.#text.length ? 'unexpected end' : 'unexpected character');
    }
  }

  #literal(word: string, value: boolean | null): JsonValue | undefined {
    if (!this.#text.startsWith(word, this.offset)) return this.#fail('unexpected character');
    this.offset += word.length;
    return value;
  }

  /** Enters a container and moves to its first item or its end. */
  #open(): boolean {
    if (this.#depth >= this.#maxDepth) {
      this.#fail('nested too deep');
      return false;
    }
    this.#depth++;
    this.offset++;
    this.#skipSpace();
    return true;
  }

  #close(code: number): boolean {
    if (!this.#take(code)) return false;
    this.#depth--;
    return true;
  }

  #array(): JsonValue | undefined {
    if (!this.#open()) return undefined;
    const items: JsonValue[] = [];
    if (this.#close(ARRAY_END)) return items;
    for (;;) {
      const item = this.#value();
      if (item === undefined) return undefined;
      items.push(item);
      this.#skipSpace();
      if (this.#close(ARRAY_END)) return items;
      if (!this.#take(COMMA)) return this.#fail('expected a comma or the end of the array');
      this.#skipSpace();
    }
  }

  #object(): JsonValue | undefined {
    if (!this.#open()) return undefined;
    const members: Record<string, JsonValue> = {};
    if (this.#close(OBJECT_END)) return members;
    for (;;) {
      if (this.#member(members) === undefined) return undefined;
      this.#skipSpace();
      if (this.#close(OBJECT_END)) return members;
      if (!this.#take(COMMA)) return this.#fail('expected a comma or the end of the object');
      this.#skipSpace();
    }
  }

  /** Reads one member into `members`. */
  #member(members: Record<string, JsonValue>): true | undefined {
    const start = this.offset;
    if (this.#peek() !== QUOTE) return this.#fail('expected a member name');
    const name = this.#string();
    if (name === undefined) return undefined;
    if (Object.hasOwn(members, name)) return this.#fail('duplicate member', start);
    this.#skipSpace();
    if (!this.#take(COLON)) return this.#fail('expected a colon');
    this.#skipSpace();
    const value = this.#value();
    if (value === undefined) return undefined;
    if (name === '__proto__') defineMember(members, name, value);
    else members[name] = value;
    return true;
  }

  /** Null for a number of RFC 8259 §6 that is not an integer in range. */
  #number(): number | null | undefined {
    const start = this.offset;
    const integer = this.#integer();
    if (integer !== undefined) return integer;
    NUMBER.lastIndex = start;
    if (!NUMBER.test(this.#text)) return undefined;
    this.offset = NUMBER.lastIndex;
    return null;
  }

  #integer(): number | undefined {
    const start = this.offset;
    const negative = this.#take(MINUS);
    const leadingZero = this.#peek() === DIGIT_0;
    const firstDigit = this.offset;
    let value = 0;
    for (let code = this.#peek(); isDigit(code); code = this.#peek()) {
      // Rounding does no harm: a product large enough to be rounded is already beyond the bound, and further digits
      // only increase it.
      value = value * 10 + (code - DIGIT_0);
      this.offset++;
    }
    const digits = this.offset - firstDigit;
    if (digits === 0) return this.#fail('expected a digit');
    if (leadingZero && digits > 1) return this.#fail('number with a leading zero', start);
    if (isFractionOrExponent(this.#peek())) return this.#fail('number not an integer', start);
    if (value > Number.MAX_SAFE_INTEGER) return this.#fail('number out of range', start);
    return negative && value !== 0 ? -value : value;
  }

  /** A string without escapes is one slice; otherwise the runs between escapes are joined. */
  #string(): string | undefined {
    let joined = '';
    let run = ++this.offset;
    for (;;) {
      const code = this.#peek();
      if (code === QUOTE) {
        joined += this.#text.slice(run, this.offset++);
        return joined;
      }
      if (code === BACKSLASH) {
        joined += this.#text.slice(run, this.offset);
        const escaped = this.#escape();
        if (escaped === undefined) return undefined;
        joined += escaped;
        run = this.offset;
      } else if (code >= 0x20 && !isSurrogate(code)) {
        this.offset++;
      } else if (isHighSurrogate(code) && isLowSurrogate(this.#text.charCodeAt(this.offset + 1))) {
        this.offset += 2;
      } else {
        return this.#failInString(code);
      }
    }
  }

  #failInString(code: number): undefined {
    if (Number.isNaN(code)) return this.#fail('unterminated string');
    return this.#fail(isSurrogate(code) ? 'lone surrogate' : 'control character in a string');
  }

  #escape(): string | undefined {
    const start = this.offset;
    const short = SHORT_ESCAPES.get(this.#text.charCodeAt(start + 1));
    if (short !== undefined) {
      this.offset += 2;
      return short;
    }
    const unit = this.#unicodeEscape(start);
    if (unit === undefined) return this.#fail('invalid escape', start);
    if (unit === 0) return this.#fail('U+0000', start);
    this.offset = start + 6;
    if (!isSurrogate(unit)) return String.fromCharCode(unit);
    // Both halves of a pair must be written alike: an escaped half beside an unescaped one is two lone surrogates.
    const low = isHighSurrogate(unit) ? this.#unicodeEscape(this.offset) : undefined;
    if (low === undefined || !isLowSurrogate(low)) return this.#fail('lone surrogate', start);
    this.offset += 6;
    return String.fromCharCode(unit, low);
  }

  /** The code unit of a `\uXXXX` at `offset`, or undefined. */
  #unicodeEscape(offset: number): number | undefined {
    if (!this.#text.startsWith('\\u', offset)) return undefined;
    const hex = this.#text.slice(offset + 2, offset + 6);
    return FOUR_HEX.test(hex) ? Number.parseInt(hex, 16) : undefined;
  }
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9])/y;
const FOUR_HEX = /^[0-9a-fA-F]{4}$/;
const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map(
  [...'"\\/bfnrt'].map((letter, i) => [letter.charCodeAt(0), '"\\/\b\f\n\r\t'.charAt(i)]),
);

/** Assigning `__proto__` would set the prototype. */
const defineMember = (members: Record<string, JsonValue>, name: string, value: JsonValue): void => {
  Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
};

const isDigit = (code: number): boolean => code >= DIGIT_0 && code <= DIGIT_9;
const isFractionOrExponent = (code: number): boolean => code === 0x2e || code === 0x65 || code === 0x45;
const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
