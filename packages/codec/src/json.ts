/**
 * JSON values as types. They are read-only: what was signed or hashed is never edited in place.
 */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/**
 * A JSON object (RFC 8259 §4). Look members of untrusted names up with `member`, which sees own ones only.
 */
export type JsonObject = { readonly [member: string]: JsonValue };

/** True for a JSON object; false for arrays, null and scalars. Says nothing about the members. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An own member, or undefined. Never looks at the prototype. */
export const member = (object: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;
