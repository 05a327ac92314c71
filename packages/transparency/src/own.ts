import type { JsonObject, JsonValue } from '@svc/protocol';

/** An own member, or undefined. Never looks at the prototype. */
export const own = (object: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;
