/**
 * Shapes as data: objects whose members each have one right form. Every departure is named, not just the first; of very
 * many unknown members of one object the rest by their number. A shape says nothing about what members mean together;
 * that is checked once each has its form.
 */
import { type FailureSink, failure, show } from './failure.ts';
import { isJsonObject, type JsonObject } from './json.ts';
import { joinPointer } from './json-pointer.ts';

// A shape that a bundle does not use is left out of it: calls of what builds one count as free of side effects.

/**
 * A member that must be there is not, one that must not be there is, or one has another form than its own.
 */
export type ShapeFailureCode = 'missing-member' | 'unknown-member' | 'malformed-member';

/** A value that is right or wrong as a whole. */
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
  /** Whether other members than these are refused. */
  readonly isClosed: boolean;
  readonly orNull: boolean;
  /** For what the form of each member does not say; called once the object is known to be one. */
  readonly then?: (object: JsonObject, path: string, reading: ShapeReading) => void;
}

/** The one right form of a value. */
export type Shape = Scalar | ObjectShape;

/** One reading of a value against a shape: what is read, and where its faults go. */
export interface ShapeReading {
  /** What is read, as "Receipt". */
  readonly what: string;
  readonly failures: FailureSink<ShapeFailureCode>;
}

/** A value that `is` tells right from wrong; `right` completes the message "must be …". */
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

/** The most unknown members of one object that are each named: what was read may be hostile, and have any number. */
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

/** An object with these members, beside which there may be others. */
export const open = /* @__NO_SIDE_EFFECTS__ */ (required: Members, optional: Members = {}): ObjectShape =>
  objectOf(required, optional, false);

/** Adds to the failures everything in which `value` departs from the shape. */
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
    // Paths are written only where they are needed, and no name in a shape needs escaping: this runs for every member.
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
