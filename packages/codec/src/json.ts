/** JSON values as types. They are read-only, because signed or hashed values are never changed in place. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/** A JSON object (RFC 8259 §4). Look up members by untrusted names with `member`, which reads own members only. */
export type JsonObject = { readonly [member: string]: JsonValue };

/** True for a JSON object; false for arrays, null and scalars. Does not check the members. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An own member, or undefined. Never reads the prototype. */
export const member = (object: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;
