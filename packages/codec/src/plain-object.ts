/** Reads a value that a caller hands in as a JSON object; it may be something else. */
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { MAX_JSON_DEPTH } from './strict-json.ts';

/**
 * A copy of an object that was handed in, with its own enumerable members at every depth. It reads accessors and
 * proxies once, and later changes to the original do not affect the copy. Scalars and values that are not JSON are
 * copied as they are. Never throws.
 *
 * Null if the value:
 *
 * - is not an object;
 * - is nested deeper than `MAX_JSON_DEPTH`, as a cycle is;
 * - has more than `MAX_MEMBERS` members, as one that contains the same object many times may have;
 * - has a `toJSON` that writes it as something else;
 * - throws when it is read.
 */
export const plainObject = (value: unknown): JsonObject | null => {
  try {
    return isJsonObject(value) ? copyObject(value, { depth: 1, members: { left: MAX_MEMBERS } }) : null;
  } catch {
    return null;
  }
};

/** Members of all objects and arrays together; our largest document has a few thousand. */
const MAX_MEMBERS = 250_000;

interface Place {
  readonly depth: number;
  readonly members: { left: number };
}

const copyObject = (object: JsonObject, place: Place): JsonObject => {
  assertPlain(object, place);
  const copy: Record<string, JsonValue> = {};
  for (const name of Object.keys(object)) {
    const inner = copyValue(object[name] as JsonValue, place);
    // An assignment would set the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { ...OWN, value: inner });
    else copy[name] = inner;
  }
  return copy;
};

const OWN = { configurable: true, enumerable: true, writable: true };

const copyArray = (array: readonly JsonValue[], place: Place): readonly JsonValue[] => {
  assertPlain(array, place);
  return array.map((item) => copyValue(item, place));
};

const copyValue = (value: JsonValue, { depth, members }: Place): JsonValue => {
  if (--members.left < 0) throw new RangeError('too large');
  if (typeof value !== 'object' || value === null) return value;
  const place = { depth: depth + 1, members };
  return Array.isArray(value) ? copyArray(value, place) : copyObject(value as JsonObject, place);
};

const assertPlain = (value: object, { depth }: Place): void => {
  if (depth > MAX_JSON_DEPTH) throw new RangeError('nested too deep');
  if ('toJSON' in value && typeof value.toJSON === 'function') throw new TypeError('not plain JSON');
};
