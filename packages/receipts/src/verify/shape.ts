/**
 * Shapes as data: closed objects whose members each have one right form. Everything that is wrong is named, not just
 * the first.
 */
import { isJsonObject, type JsonObject } from '@svc/protocol';
import { type Failure, failure, show } from '../failure.ts';
import { pointer } from '../json-pointer.ts';

/** A value that is right or wrong as a whole. */
export interface Scalar {
  readonly kind: 'scalar';
  /** Completes "must be …". */
  readonly right: string;
  readonly is: (value: unknown) => boolean;
}

interface Member {
  readonly rule: Rule;
  readonly required: boolean;
}

export interface Closed {
  readonly kind: 'closed';
  readonly members: ReadonlyMap<string, Member>;
  readonly required: readonly string[];
  readonly orNull: boolean;
  /** For what the members alone do not say; called once the object is known to be one. */
  readonly then?: (object: JsonObject, path: string, failures: Failure[]) => void;
}

export type Rule = Scalar | Closed;

export const scalar = (right: string, is: (value: unknown) => boolean): Scalar => ({
  kind: 'scalar',
  right,
  is,
});

export const closed = (
  required: Readonly<Record<string, Rule>>,
  optional: Readonly<Record<string, Rule>> = {},
  then?: Closed['then'],
): Closed => ({
  kind: 'closed',
  orNull: false,
  members: new Map<string, Member>([
    ...Object.entries(required).map(([name, rule]) => [name, { rule, required: true }] as const),
    ...Object.entries(optional).map(([name, rule]) => [name, { rule, required: false }] as const),
  ]),
  required: Object.keys(required),
  ...(then === undefined ? {} : { then }),
});

/** Adds to `failures` everything in which `value` departs from the rule. */
export const checkShape = (value: unknown, rule: Rule, path: string, failures: Failure[]): void => {
  if (rule.kind === 'closed') checkClosed(value, rule, path, failures);
  else if (!rule.is(value)) failures.push(malformed(rule.right, value, path));
};

const malformed = (right: string, value: unknown, path: string): Failure =>
  failure(
    'malformed-member',
    `${path === '' ? 'the Receipt' : path} must be ${right}, not ${show(value)}`,
    path,
  );

const checkClosed = (value: unknown, rule: Closed, path: string, failures: Failure[]): void => {
  if (value === null && rule.orNull) return;
  if (!isJsonObject(value)) {
    failures.push(malformed('an object', value, path));
    return;
  }
  let requiredSeen = 0;
  for (const name of Object.keys(value)) {
    const member = rule.members.get(name);
    if (member === undefined) {
      const at = pointer(path, name);
      failures.push(failure('unknown-member', `${at} is not a member of a Receipt`, at));
      continue;
    }
    if (member.required) requiredSeen++;
    const inner = value[name];
    // Paths are written only where they are needed, and no name in a rule needs escaping: this runs for every member.
    if (member.rule.kind === 'closed' || !member.rule.is(inner))
      checkShape(inner, member.rule, `${path}/${name}`, failures);
  }
  if (requiredSeen < rule.required.length) listMissing(value, rule, path, failures);
  rule.then?.(value, path, failures);
};

const listMissing = (value: JsonObject, rule: Closed, path: string, failures: Failure[]): void => {
  for (const name of rule.required)
    if (!Object.hasOwn(value, name)) {
      const at = pointer(path, name);
      failures.push(failure('missing-member', `${at} is missing`, at));
    }
};
