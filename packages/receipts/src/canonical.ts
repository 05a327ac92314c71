/** RFC 8785 text, by JSON.stringify where the members are already in order. */
import { type JsonObject, type JsonValue, jcs } from '@svc/protocol';

/** The RFC 8785 form of an object of plain JSON. The bodies that the engine builds are in order. */
export const canonicalText = (value: JsonObject): string =>
  isOrdered(value) ? JSON.stringify(value) : jcs(value);

/** Null for a value without canonical form: nested too deep, cyclic, not JSON. */
export const canonicalTextOrNull = (value: JsonObject): string | null => {
  try {
    return canonicalText(value);
  } catch {
    return null;
  }
};

/** Whether the members of all nested objects are in the order of their UTF-16 code units. */
const isOrdered = (value: JsonObject): boolean => {
  let last = '';
  // Unlike `Object.keys` it makes no list; a name that is inherited can only lead to the slower way.
  for (const name in value) {
    if (name < last || !isInOrder(value[name])) return false;
    last = name;
  }
  return true;
};

const isInOrder = (value: JsonValue | undefined): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  return Array.isArray(value) ? value.every(isInOrder) : isOrdered(value as JsonObject);
};
