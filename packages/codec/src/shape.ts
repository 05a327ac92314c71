/**
 * Shapes as data: objects in which each member has one right form. Every deviation is reported, not only the first. If
 * one object has very many unknown members, those beyond `MAX_UNKNOWN_NAMED` are reported only by their number. A shape
 * does not check how members relate to each other; that is checked after their forms.
 */
import { type FailureSink, failure, show } from './failure.ts';
import { isJsonObject, type JsonObject } from './json.ts';
import { joinPointer } from './json-pointer.ts';

// Bundlers drop unused shapes, because calls of the functions that build shapes are marked as free of side effects.

/** A required member is missing, a member is not allowed, or a member has a wrong form. */
export type ShapeFailureCode = 'missing-member' | 'unknown-member' | 'malformed-member';

/** A value that is valid or invalid as a whole. */
export interface Scalar {
  readonly kind: 'scalar';
  /** Completes "must be …". */
  readonly right: string;
  /** Whether a value is of this form. Must not throw. */
  readonly is: (value: unknown) => boolean;
}

interface Member {
  readonly shape: Shape;
  readonly required: boolean;
}

/** An object whose members each have a shape of their own. Built by `closed` or `open`. */
export interface ObjectShape {
  readonly kind: 'object';
  readonly members: ReadonlyMap<string, Member>;
  readonly required: readonly string[];
  /** Whether members other than these are refused. */
  readonly isClosed: boolean;
  readonly orNull: boolean;
  /** Checks rules that concern more than one member. Called only if the value is an object. */
  readonly then?: (object: JsonObject, path: string, reading: ShapeReading) => void;
}

/** The one valid form of a value. */
export type Shape = Scalar | ObjectShape;

/** One check of a value against a shape: what is read, and where faults are added. */
export interface ShapeReading {
  /** Name of what is read, such as "Receipt". */
  readonly what: string;
  readonly failures: FailureSink<ShapeFailureCode>;
}

/** A value that is valid if `is` holds; `right` completes the message "must be …". */
export const scalar = /* @__NO_SIDE_EFFECTS__ */ (
  right: string,
  is: (value: unknown) => boolean,
): Scalar => ({
  kind: 'scalar',
  right,
  is,
});

/** A string for which `is` holds. */
export const text = /* @__NO_SIDE_EFFECTS__ */ (right: string, is: (value: string) => boolean): Scalar =>
  scalar(right, (value) => typeof value === 'string' && is(value));

/** One of these strings, exactly. */
export const oneOf = /* @__NO_SIDE_EFFECTS__ */ (...options: readonly string[]): Scalar =>
  scalar(options.map((option) => `"${option}"`).join(' or '), (value) =>
    options.some((option) => option === value),
  );

/**
 * The maximum number of unknown members of one object that are reported by name, since hostile input may have any
 * number of them.
 */
const MAX_UNKNOWN_NAMED = 100;

type Members = Readonly<Record<string, Shape>>;

const objectOf = /* @__NO_SIDE_EFFECTS__ */ (
  required: Members,
  optional: Members,
  isClosed: boolean,
): ObjectShape => ({
  kind: 'object',
  isClosed,
  orNull: false,
  members: new Map<string, Member>([
    ...Object.entries(required).map(([name, shape]) => [name, { shape, required: true }] as const),
    ...Object.entries(optional).map(([name, shape]) => [name, { shape, required: false }] as const),
  ]),
  required: Object.keys(required),
});

/** An object with these members and no others. */
export const closed = /* @__NO_SIDE_EFFECTS__ */ (
  required: Members,
  optional: Members = {},
  then?: ObjectShape['then'],
): ObjectShape => ({ ...objectOf(required, optional, true), ...(then === undefined ? {} : { then }) });

/** An object with these members and perhaps others. */
export const open = /* @__NO_SIDE_EFFECTS__ */ (required: Members, optional: Members = {}): ObjectShape =>
  objectOf(required, optional, false);

/** Adds to the failures every deviation of `value` from the shape. */
export const checkShape = (value: unknown, shape: Shape, reading: ShapeReading, path = ''): void => {
  if (shape.kind === 'object') checkObject(value, shape, reading, path);
  else if (!shape.is(value)) reportMalformed(shape.right, value, reading, path);
};

const reportMalformed = (right: string, value: unknown, { what, failures }: ShapeReading, path: string) => {
  const place = path === '' ? `the ${what}` : path;
  failures.push(failure('malformed-member', `${place} must be ${right}, not ${show(value)}`, path));
};

const checkObject = (value: unknown, shape: ObjectShape, reading: ShapeReading, path: string): void => {
  if (value === null && shape.orNull) return;
  if (!isJsonObject(value)) {
    reportMalformed('an object', value, reading, path);
    return;
  }
  let requiredSeen = 0;
  let unknown = 0;
  for (const name of Object.keys(value)) {
    const member = shape.members.get(name);
    if (member === undefined) {
      if (shape.isClosed && ++unknown <= MAX_UNKNOWN_NAMED) reportUnknown(reading, joinPointer(path, name));
      continue;
    }
    if (member.required) requiredSeen++;
    const inner = value[name];
    // This runs for every member, so paths are built only where needed; no name in a shape needs escaping.
    if (member.shape.kind === 'object' || !member.shape.is(inner))
      checkShape(inner, member.shape, reading, `${path}/${name}`);
  }
  if (unknown > MAX_UNKNOWN_NAMED)
    reportUnknown(reading, path, `each of ${unknown - MAX_UNKNOWN_NAMED} more`);
  if (requiredSeen < shape.required.length) listMissing(value, shape, reading, path);
  shape.then?.(value, path, reading);
};

const reportUnknown = ({ what, failures }: ShapeReading, path: string, place = path): void =>
  void failures.push(failure('unknown-member', `${place} is not a member of a ${what}`, path));

const listMissing = (
  value: JsonObject,
  shape: ObjectShape,
  { failures }: ShapeReading,
  path: string,
): void => {
  for (const name of shape.required)
    if (!Object.hasOwn(value, name)) {
      const at = joinPointer(path, name);
      failures.push(failure('missing-member', `${at} is missing`, at));
    }
};
