/** Where two JSON values first differ, in the order of the expected one; members that are too many come last. */
import { isJsonObject, type JsonValue, joinPointer } from '@svc/codec';

export interface Difference {
  /** JSON pointer (RFC 6901) into the result. */
  readonly pointer: string;
  /** Undefined: there should be nothing at this place. */
  readonly expected: JsonValue | undefined;
  /** Undefined: there is nothing at this place. */
  readonly got: JsonValue | undefined;
}

/** The first difference, or null where the values are the same JSON. */
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

/** The members of two objects or the places of two arrays; null where the values are not both of one kind. */
const namesIn = (a: JsonValue | undefined, b: JsonValue | undefined): ReadonlySet<string> | null => {
  const areArrays = Array.isArray(a) && Array.isArray(b);
  const areObjects = isJsonObject(a) && isJsonObject(b);
  return areArrays || areObjects ? new Set([...Object.keys(a), ...Object.keys(b)]) : null;
};

/** Never looks at the prototype, nor at the length of an array. */
const own = (container: JsonValue | undefined, name: string): JsonValue | undefined =>
  typeof container === 'object' && container !== null && Object.hasOwn(container, name)
    ? (container as { readonly [member: string]: JsonValue })[name]
    : undefined;
