/** RFC 8785 text, by JSON.stringify where the members are already in order. */
import { JcsError, type JsonObject, type JsonValue, jcs, MAX_JSON_DEPTH } from '@svc/protocol';

/**
 * The RFC 8785 form of an object of plain JSON. The bodies that the engine builds are in order. Throws for what has no such
 * form, JcsError where it is nested deeper than strict JSON may be.
 */
export const canonicalText = (value: JsonObject): string =>
  isOrdered(value, 1) ? JSON.stringify(value) : jcs(value);

/** Null for a value without canonical form: nested too deep, cyclic, not JSON. */
export const canonicalTextOrNull = (value: JsonObject): string | null => {
  try {
    return canonicalText(value);
  } catch {
    return null;
  }
};

/**
 * Whether the members of all nested objects are in the order of their UTF-16 code units. Goes through all of them in any case,
 * so that what is nested too deep is found wherever it is: JSON.stringify would overflow the stack, as would whoever compares.
 */
const isOrdered = (value: JsonObject, depth: number): boolean => {
  assertShallow(depth);
  let isSoFar = true;
  let last = '';
  // Unlike `Object.keys` it makes no list; a name that is inherited can only lead to the slower way.
  for (const name in value) {
    if (!isInOrder(value[name], depth) || name < last) isSoFar = false;
    last = name;
  }
  return isSoFar;
};

const isInOrder = (value: JsonValue | undefined, depth: number): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  return Array.isArray(value) ? areInOrder(value, depth + 1) : isOrdered(value as JsonObject, depth + 1);
};

const areInOrder = (items: readonly JsonValue[], depth: number): boolean => {
  assertShallow(depth);
  let areSoFar = true;
  for (const item of items) if (!isInOrder(item, depth)) areSoFar = false;
  return areSoFar;
};

const assertShallow = (depth: number): void => {
  if (depth > MAX_JSON_DEPTH) throw new JcsError('nested too deep');
};
