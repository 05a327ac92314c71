/**
 * Checks at run time what callers pass in: `readArgument` an object of options, `checkValue` a single value. Callers in
 * JavaScript have no types. A misspelt option, or text in place of a list, could allow more than the caller meant. So
 * unknown options are refused; known options are read once, checked, and returned as a copy. Messages name the member
 * and the kind of value. They never show the value, which may be a secret, except a number where a number is required.
 */
import { SvcError } from './errors.ts';

export interface Rule<T> {
  /** Completes the sentence "… must be …". */
  readonly what: string;
  readonly isMet: (value: unknown) => value is T;
  readonly showsNumbers?: boolean;
}

export interface OptionalRule<T> {
  readonly optional: Rule<T>;
  /** What is allowed if the member is left out. A member given as undefined does not count as left out. */
  readonly allowsWhenAbsent?: string;
}

/** A rule for every member of `T`: a new option of the type does not compile without its rule. */
export type Rules<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? OptionalRule<Exclude<T[K], undefined>>
    : Rule<T[K]>;
};

export type ArgumentErrorKind = 'invalid-argument' | 'configuration';

/**
 * Reads the known members of `value` once. `at` names the function that the caller called.
 * @throws SvcError of `kind`
 */
export function readArgument<T extends object>(
  at: string,
  value: unknown,
  rules: Rules<T>,
  kind: ArgumentErrorKind = 'invalid-argument',
): T {
  if (!isObject(value)) throw new SvcError(kind, `${at} takes an object of options; given ${kindOf(value)}`);
  const entries: [string, Rule<unknown> | OptionalRule<unknown>][] = Object.entries(rules);
  // Inherited members are checked too, because they would be read like own members.
  for (const name in value) {
    if (Object.hasOwn(rules, name)) continue;
    const known = entries.map(([one]) => one).join(', ');
    throw new SvcError(kind, `${at} has no option ${JSON.stringify(name.slice(0, 64))}; it takes ${known}`);
  }
  const found: Record<string, unknown> = {};
  for (const [name, rule] of entries) {
    const problem = readMember(value, name, rule, found);
    if (problem !== null) throw new SvcError(kind, `${at}: ${name} ${problem}`);
  }
  // Every member of T has met its own rule.
  return found as T;
}

function readMember(
  object: Readonly<Record<string, unknown>>,
  name: string,
  rule: Rule<unknown> | OptionalRule<unknown>,
  found: Record<string, unknown>,
): string | null {
  const member = object[name];
  if ('optional' in rule && member === undefined) {
    if (rule.allowsWhenAbsent === undefined || !(name in object)) return null;
    return `is given but undefined; leave it out to allow ${rule.allowsWhenAbsent}`;
  }
  const problem = problemOf(member, 'optional' in rule ? rule.optional : rule);
  if (problem === null) found[name] = member;
  return problem;
}

/** @throws SvcError of `kind` unless the one value meets its rule. */
export function checkValue<T>(
  name: string,
  value: unknown,
  rule: Rule<T>,
  kind: ArgumentErrorKind = 'invalid-argument',
): asserts value is T {
  const problem = problemOf(value, rule);
  if (problem !== null) throw new SvcError(kind, `${name} ${problem}`);
}

function problemOf(value: unknown, { what, isMet, showsNumbers = false }: Rule<unknown>): string | null {
  if (isMet(value)) return null;
  const given = showsNumbers && typeof value === 'number' ? String(value) : kindOf(value);
  return `must be ${what}; given ${given}`;
}

/** The kind of the value, without any of its content. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (value === '') return 'an empty string';
  if (Array.isArray(value)) {
    const kinds = [...new Set(value.slice(0, 64).map((one) => (Array.isArray(one) ? 'array' : typeof one)))];
    return value.length === 0 ? 'an empty array' : `an array of ${value.length} (${kinds.join(', ')})`;
  }
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const rule = <T>(what: string, isMet: (value: unknown) => value is T): Rule<T> => ({ what, isMet });

export const optionally = <T>(rule: Rule<T>): OptionalRule<T> => ({ optional: rule });

/** A member that may be left out, which allows more; so an accidental undefined must not stand for it. */
export const absentAllows = <T>(allowsWhenAbsent: string, rule: Rule<T>): OptionalRule<T> => ({
  optional: rule,
  allowsWhenAbsent,
});

export const isText = (value: unknown): value is string => typeof value === 'string';
/** Scheme, host and port, in the one spelling with which a signed URL begins. Proofs exist for http and https only. */
export const isOrigin = (value: unknown): value is string =>
  isText(value) && /^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value;
const isTextList = (value: unknown): value is readonly string[] =>
  // Array.from turns a hole into undefined.
  Array.isArray(value) && Array.from(value).every(isText);

export const aText = (what = 'a string'): Rule<string> => rule(what, isText);
export const aFlag: Rule<boolean> = rule('true or false', (value) => typeof value === 'boolean');
export const aTextList = (what: string, min: number, max: number): Rule<readonly string[]> =>
  rule(
    `an array of ${min} to ${max} strings: ${what}`,
    (value): value is readonly string[] => isTextList(value) && value.length >= min && value.length <= max,
  );

/** Both bounds included. */
export const anInteger = (min: number, max: number, unit: string): Rule<number> => ({
  what: `an integer, ${min} to ${max} (${unit})`,
  isMet: (value): value is number =>
    typeof value === 'number' &&
    Number.isSafeInteger(value) &&
    value >= min &&
    value <= max &&
    !Object.is(value, -0),
  showsNumbers: true,
});

export const aFunction = <F extends (...args: never[]) => unknown>(what = 'a function'): Rule<F> =>
  rule(what, (value): value is F => typeof value === 'function');

/** An object with these members as text and these as functions; other members are ignored. */
export const anObjectWith = <T extends object>(
  what: string,
  texts: readonly (keyof T & string)[],
  functions: readonly (keyof T & string)[],
): Rule<T> =>
  rule(
    what,
    (value): value is T =>
      isObject(value) &&
      texts.every((name) => isText(value[name])) &&
      functions.every((name) => typeof value[name] === 'function'),
  );
