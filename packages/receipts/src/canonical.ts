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
const isOrdered = (value: JsonObject | readonly JsonValue[]): boolean => {
  const named = !Array.isArray(value);
  let last = '';
  for (const name of Object.keys(value)) {
    if (named && name < last) return false;
    last = name;
    const member = (value as JsonObject)[name];
    if (typeof member === 'object' && member !== null && !isOrdered(member)) return false;
  }
  return true;
};
