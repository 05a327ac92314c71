/**
 * How a failed check is explained to people: what it compared with what, and what to do (protocol §7). An explanation
 * is a constant beside its check, so that bundlers drop it where nothing is explained. Facts about other Principals are
 * not shown: an id that was allocated to another Principal is reported as such, without that Principal's name.
 */
import type { Action } from '../model/action.ts';
import type { Capability } from '../model/capability.ts';
import type { Check, CheckContext } from './check.ts';

/** What was compared with what, each as a value or in words. */
export interface Comparison {
  /** A member of Grant, Proof or Action, or another thing that was compared. */
  readonly what: string;
  readonly found: string;
  readonly expected: string;
}

/** Whether a Capability meets the condition of one check, and what was compared. */
export interface Judgement {
  readonly holds: boolean;
  /** If the condition does not hold: only the comparisons that fail. */
  readonly compared: readonly Comparison[];
}

/** Judges Capabilities for this Action. What concerns the Action alone is computed once, in the first call. */
export type Judge = (action: Action, context: CheckContext) => (capability: Capability) => Judgement;

/** How the failure of a check is explained. `Reads`: the evidence of the checks that it requires. */
export interface Explained<Reads extends object = object> {
  /** What the check compared with what. Called only if the check has failed. */
  compare(evidence: Reads, context: CheckContext): readonly Comparison[];
  /** What to do, where more is known than the reason says. */
  remedy?(evidence: Reads, context: CheckContext): string;
  readonly judge?: undefined;
}

/** How a check that narrows the Capabilities is explained: it judges each by itself. */
export interface ExplainedPerCapability {
  readonly judge: Judge;
}

/** How this check is explained. It can read what the check itself can read. */
export type ExplanationOf<Declared> =
  Declared extends Check<string, unknown, infer Reads> ? Explained<Reads> : never;

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
