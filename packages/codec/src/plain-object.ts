/** What somebody hands in as a JSON object: not always one. */
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { MAX_JSON_DEPTH } from './strict-json.ts';

/**
 * A copy of an object that was handed in, with its own enumerable members at every depth: accessors and proxies are asked
 * once, and nobody alters it later. Scalars, and what is no JSON, are in it as they are. Null for what is no object, is nested
 * deeper than `MAX_JSON_DEPTH`, as a cycle is, or larger than `MAX_MEMBERS`, as what holds the same object again and again may
 * be, has a `toJSON` that writes it as something else, or throws when it is read. Never throws.
 */
export const plainObject = (value: unknown): JsonObject | null => {
  try {
    return isJsonObject(value) ? copyObject(value, { depth: 1, members: { left: MAX_MEMBERS } }) : null;
  } catch {
    return null;
  }
};

/** Members of all objects and arrays together; our largest document has some thousands. */
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
    // Assigned, it would be the prototype.
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
