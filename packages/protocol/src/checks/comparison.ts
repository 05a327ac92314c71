/**
 * What a failed check compared with what, for people (protocol §7). Facts about other Principals are not shown: an id
 * that was allocated to another Principal is reported as such, without that Principal's name.
 */

/** What was compared with what, each as a value or in words. */
export interface Comparison {
  /** A member of Grant, Proof or Action, or another thing that was compared. */
  readonly what: string;
  readonly found: string;
  readonly expected: string;
}

/** A value as a comparison shows it; the elements of a list are separated by commas. */
export const shown = (value: unknown): string => {
  if (value === null || value === undefined) return 'none';
  return Array.isArray(value) ? value.map(String).join(', ') : String(value);
};

/** One comparison of two values. */
export const one = (what: string, found: unknown, expected: unknown): readonly Comparison[] => [
  { what, found: shown(found), expected: shown(expected) },
];

/**
 * `problem`: either a rule that was broken, in the form "X must be Y", followed by "; " and the actual value if that is
 * known; or another fault.
 */
export const form = (what: string, problem: string): readonly Comparison[] => {
  const [rule = '', instead = 'something else'] = problem.split('; ');
  return rule.includes(' must ') ? one(what, instead, rule) : one(what, problem, 'no such fault');
};

/** The fault of what could not be parsed. */
export const problemOf = (
  parsed: { readonly ok: true } | { readonly ok: false; readonly problem: string },
): string => (parsed.ok ? '' : parsed.problem);
