/** The differences between two JSON values, as JSON pointers (RFC 6901). */
import { isJsonObject, type JsonValue, joinPointer, member } from '@svc/codec';

/** A member of a Receipt that differs from the engine's value. */
export interface Difference {
  /** JSON pointer. */
  readonly path: string;
  /** Undefined: the member is unexpected. */
  readonly expected: JsonValue | undefined;
  /** Undefined: the member is missing. */
  readonly got: JsonValue | undefined;
}

/**
 * Every difference, in the order of the expected members; arrays are compared as a whole. Recurses no deeper than
 * `expected`, which is a body built by the engine or a payload in canonical form.
 */
export const listDifferences = (
  expected: JsonValue | undefined,
  got: JsonValue | undefined,
  path = '',
): Difference[] => {
  if (isJsonObject(expected) && isJsonObject(got)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(got)]);
    return [...names].flatMap((name) =>
      listDifferences(member(expected, name), member(got, name), joinPointer(path, name)),
    );
  }
  return isSame(expected, got) ? [] : [{ path, expected, got }];
};

const isSame = (a: JsonValue | undefined, b: JsonValue | undefined): boolean => {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((item, i) => listDifferences(item, b[i]).length === 0);
};
