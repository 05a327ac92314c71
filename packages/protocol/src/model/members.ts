/**
 * Reads members of untrusted JSON objects. A `Findings` collects faults in two grades (protocol §2): `malformed` (wrong
 * form) takes precedence over `unsupported` (well formed, but of no known profile). Faults that exist only under a
 * profile with budgets (protocol §11) are kept apart.
 */
import type { JsonObject, JsonValue } from '@svc/codec';

export { member } from '@svc/codec';

export class Findings {
  private firstMalformed: string | null = null;
  private firstUnsupported: string | null = null;
  private firstMalformedBudget: string | null = null;

  malformed(problem: string): void {
    this.firstMalformed ??= problem;
  }

  unsupported(problem: string): void {
    this.firstUnsupported ??= problem;
  }

  malformedBudget(problem: string): void {
    this.firstMalformedBudget ??= problem;
  }

  /** The finding that decides; null if there is none. */
  get worst(): { readonly grade: 'malformed' | 'unsupported'; readonly problem: string } | null {
    if (this.firstMalformed !== null) return { grade: 'malformed', problem: this.firstMalformed };
    if (this.firstUnsupported !== null) return { grade: 'unsupported', problem: this.firstUnsupported };
    return null;
  }

  get budgetProblem(): string | null {
    return this.firstMalformedBudget;
  }
}

/** Names in `object` that are not in `allowed`. */
export const unknownMembers = (object: JsonObject, allowed: ReadonlySet<string>): string[] =>
  Object.keys(object).filter((name) => !allowed.has(name));

/** True when `object` has exactly the members `names`. */
export const hasExactly = (object: JsonObject, names: ReadonlySet<string>): boolean => {
  const keys = Object.keys(object);
  return keys.length === names.size && keys.every((name) => names.has(name));
};

/**
 * Says in words how `object` differs from having exactly the members `names`. Names of unknown members are not
 * repeated.
 */
export const memberFault = (object: JsonObject, names: ReadonlySet<string>): string => {
  const missing = [...names]
    .filter((name) => !Object.hasOwn(object, name))
    .map((name) => `${name} is missing`);
  const others = unknownMembers(object, names).length > 0 ? ['there are other members'] : [];
  return [...missing, ...others].join(', ');
};

/** Whether a value is an array of strings. */
export const isStringArray = (value: JsonValue | undefined): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

export const hasDuplicates = (items: readonly string[]): boolean => new Set(items).size !== items.length;

/** A count or an amount in minor units: an integer from 0 to 2^53−1. */
export const isNonNegativeInteger = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0);
