/**
 * Finds the first difference between two JSON values, in the order of the expected one; unexpected members come last.
 */
import { isJsonObject, type JsonValue, joinPointer } from '@svc/codec';

/** The first place at which a result differs from the expected one. */
export interface Difference {
  /** JSON pointer (RFC 6901) into the result. */
  readonly pointer: string;
  /** Undefined: the place should not exist. */
  readonly expected: JsonValue | undefined;
  /** Undefined: the place does not exist. */
  readonly got: JsonValue | undefined;
}

/** The first difference; null if the values are equal JSON. */
export const findFirstDifference = (
  expected: JsonValue | undefined,
  got: JsonValue | undefined,
  pointer = '',
): Difference | null => {
  const names = namesIn(expected, got);
  if (names === null) return expected === got ? null : { pointer, expected, got };
  for (const name of names) {
    const difference = findFirstDifference(own(expected, name), own(got, name), joinPointer(pointer, name));
    if (difference !== null) return difference;
  }
  return null;
};

/** The member names of two objects or the indexes of two arrays; null if the values are not of the same kind. */
const namesIn = (a: JsonValue | undefined, b: JsonValue | undefined): ReadonlySet<string> | null => {
  const areArrays = Array.isArray(a) && Array.isArray(b);
  const areObjects = isJsonObject(a) && isJsonObject(b);
  return areArrays || areObjects ? new Set([...Object.keys(a), ...Object.keys(b)]) : null;
};

/** Own members only, and not the length of an array. */
const own = (container: JsonValue | undefined, name: string): JsonValue | undefined =>
  typeof container === 'object' && container !== null && Object.hasOwn(container, name)
    ? (container as { readonly [member: string]: JsonValue })[name]
    : undefined;
