/** RFC 8785 text, written by JSON.stringify if the members are already in order. */
import { JcsError, type JsonObject, type JsonValue, jcs, MAX_JSON_DEPTH } from '@svc/protocol';

/**
 * The RFC 8785 form of an object of plain JSON. Bodies built by the engine are already in order. Throws if the value
 * has no such form; the error is JcsError if it is nested deeper than strict JSON may be.
 */
export const canonicalText = (value: JsonObject): string =>
  isOrdered(value, 1) ? JSON.stringify(value) : jcs(value);

/** Null for a value without canonical form: nested too deep, cyclic or not JSON. */
export const canonicalTextOrNull = (value: JsonObject): string | null => {
  try {
    return canonicalText(value);
  } catch {
    return null;
  }
};

/**
 * Whether the members of all nested objects are in the order of their UTF-16 code units. It always visits all of them,
 * so that too deep nesting is found anywhere: it would overflow the stack in JSON.stringify and in comparisons.
 */
const isOrdered = (value: JsonObject, depth: number): boolean => {
  assertShallow(depth);
  let isSoFar = true;
  let last = '';
  // Unlike `Object.keys`, this creates no list. An inherited name can only cause the slower path.
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
