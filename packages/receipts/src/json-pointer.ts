/** JSON pointers (RFC 6901), and the places at which two JSON values differ. */
import { isJsonObject, type JsonObject, type JsonValue } from '@svc/protocol';

export interface Difference {
  /** JSON pointer. */
  readonly path: string;
  /** Undefined: there should be no such member. */
  readonly expected: JsonValue | undefined;
  /** Undefined: there is no such member. */
  readonly got: JsonValue | undefined;
}

export const pointer = (parent: string, name: string): string =>
  `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Every difference, in the order of the expected members; arrays are compared as a whole. */
export const listDifferences = (
  expected: JsonValue | undefined,
  got: JsonValue | undefined,
  path = '',
): Difference[] => {
  if (isJsonObject(expected) && isJsonObject(got)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(got)]);
    return [...names].flatMap((name) =>
      listDifferences(own(expected, name), own(got, name), pointer(path, name)),
    );
  }
  return isSame(expected, got) ? [] : [{ path, expected, got }];
};

/** An own member, or undefined. Never looks at the prototype. */
export const own = (object: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

const isSame = (a: JsonValue | undefined, b: JsonValue | undefined): boolean => {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((item, i) => listDifferences(item, b[i]).length === 0);
};
