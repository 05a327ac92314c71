/**
 * Schema faults in words: which field, what it must be, what was sent. Messages of the contract begin with "must";
 * zod's own are put into the same form here.
 */
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

const MOST_ISSUES = 5;
const MOST_CHARS = 64;

/** How the whole is called ("body", "query parameter"), and how a field inside it. */
export interface Place {
  readonly whole: string;
  readonly field: (path: string) => string;
}

export const describeIssues = (issues: readonly Issue[], place: Place): string =>
  [...new Set(issues.map((issue) => describeIssue(issue, place)))].slice(0, MOST_ISSUES).join('; ');

const describeIssue = (issue: Issue, place: Place): string => {
  const name = issue.path.length === 0 ? place.whole : place.field(pathText(issue.path));
  if (issue.code === 'unrecognized_keys') {
    const prefix = issue.path.length === 0 ? '' : `${pathText(issue.path)}.`;
    return issue.keys.map((key) => `${place.field(prefix + brief(key))} is not known here`).join('; ');
  }
  const must = mustText(issue);
  const sent = sentText(issue);
  return sent === null ? `${name} is missing: it ${must}` : `${name} ${must}; got ${sent}`;
};

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${brief(String(step))}`,
    )
    .join('');

const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: 'an integer',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  object: 'a JSON object',
  array: 'an array',
};

const mustText = (issue: Issue): string => {
  if (issue.message.startsWith('must')) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'invalid_union':
      return `must be ${unionOptions(issue) ?? 'one of the documented forms'}`;
    case 'too_small':
      return `must ${boundText(issue.origin)} at least ${issue.minimum}${unitText(issue.origin)}`;
    case 'too_big':
      return `must ${boundText(issue.origin)} at most ${issue.maximum}${unitText(issue.origin)}`;
    default:
      return 'must have the documented form';
  }
};

const unionOptions = (issue: Issue): string | null => {
  const options: unknown = 'options' in issue ? issue.options : null;
  return Array.isArray(options) ? options.map((option) => JSON.stringify(option)).join(' or ') : null;
};

const isSized = (origin: string): boolean => origin === 'array' || origin === 'string';
const boundText = (origin: string): string => (isSized(origin) ? 'have' : 'be');
const unitText = (origin: string): string =>
  origin === 'array' ? ' items' : origin === 'string' ? ' characters' : '';

/** The value in question in a few characters, or null where there is none. */
const sentText = (issue: Issue): string | null => {
  const input: unknown =
    issue.code === 'invalid_union' && 'discriminator' in issue
      ? (issue.input as Record<string, unknown>)[String(issue.discriminator)]
      : issue.input;
  if (input === undefined) return null;
  if (Array.isArray(input)) return `an array of ${input.length}`;
  if (typeof input === 'object' && input !== null) return 'an object';
  return brief(JSON.stringify(input));
};

const brief = (text: string): string => (text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS)}…`);
