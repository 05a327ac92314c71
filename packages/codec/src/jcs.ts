/**
 * JSON Canonicalization Scheme (RFC 8785): one text for each value, so that it can be hashed, signed and compared.
 *
 * The library used overflows the stack on deep input and writes invalid JSON for functions and holes, so it gets only
 * plain JSON of bounded depth.
 */
import canonicalize from 'canonicalize';
import type { JsonValue } from './json.ts';

/** The maximum nesting that `jcs` writes; it throws JcsError beyond that. */
export const MAX_JCS_DEPTH = 64;

/** The value given to `jcs` is not plain JSON: an error of the caller, never a verdict on input. */
export class JcsError extends Error {
  override readonly name = 'JcsError';
}

/** The canonical text. Throws JcsError on anything but plain JSON: see `assertPlain`. */
export const jcs = (value: JsonValue): string => {
  assertPlain(value, 0);
  const text = canonicalize(value);
  if (text === undefined) throw new JcsError('no canonical form');
  return text;
};

/**
 * Plain JSON is null, booleans, finite numbers, well-formed strings, dense arrays and objects without a class, nested
 * at most 64 deep. The depth bound also stops the walk through a cyclic value.
 */
const assertPlain = (value: unknown, depth: number): void => {
  switch (typeof value) {
    case 'boolean':
      return;
    case 'string':
      assertWellFormed(value);
      return;
    case 'number':
      if (!Number.isFinite(value)) throw new JcsError('number not finite');
      return;
    case 'object':
      if (value !== null) assertPlainContainer(value, depth + 1);
      return;
    default:
      throw new JcsError(`${typeof value} is not JSON`);
  }
};

const assertPlainContainer = (value: object, depth: number): void => {
  if (depth > MAX_JCS_DEPTH) throw new JcsError('nested too deep');
  if (Array.isArray(value)) {
    // By index, so that a hole is read as undefined.
    for (let i = 0; i < value.length; i++) assertPlain(value[i], depth);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new JcsError('object with a class');
  for (const [name, member] of Object.entries(value)) {
    assertWellFormed(name);
    assertPlain(member, depth);
  }
};

/** With the `u` flag, a surrogate that is half of a pair does not match. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const assertWellFormed = (text: string): void => {
  if (LONE_SURROGATE.test(text)) throw new JcsError('lone surrogate');
};
