/** What somebody hands in as a JSON object: not always one. */
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { MAX_JSON_DEPTH } from './strict-json.ts';

/**
 * A copy of an object that was handed in, with its own enumerable members at every depth: accessors and proxies are asked
 * once, and nobody alters it later. Scalars, and what is no JSON, are in it as they are. Null for what is no object, is nested
 * deeper than `MAX_JSON_DEPTH`, as a cycle is, has a `toJSON` that writes it as something else, or throws when it is read.
 * Never throws.
 */
export const plainObject = (value: unknown): JsonObject | null => {
  try {
    return isJsonObject(value) ? copyObject(value, 1) : null;
  } catch {
    return null;
  }
};

const copyObject = (object: JsonObject, depth: number): JsonObject => {
  assertPlain(object, depth);
  const copy: Record<string, JsonValue> = {};
  for (const name of Object.keys(object)) {
    const inner = copyValue(object[name] as JsonValue, depth);
    // Assigned, it would be the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { ...OWN, value: inner });
    else copy[name] = inner;
  }
  return copy;
};

const OWN = { configurable: true, enumerable: true, writable: true };

const copyArray = (array: readonly JsonValue[], depth: number): readonly JsonValue[] => {
  assertPlain(array, depth);
  return array.map((item) => copyValue(item, depth));
};

const copyValue = (value: JsonValue, depth: number): JsonValue => {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? copyArray(value, depth + 1) : copyObject(value as JsonObject, depth + 1);
};

const assertPlain = (value: object, depth: number): void => {
  if (depth > MAX_JSON_DEPTH) throw new RangeError('nested too deep');
  if ('toJSON' in value && typeof value.toJSON === 'function') throw new TypeError('not plain JSON');
};
