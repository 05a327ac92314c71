/**
 * Describes schema faults in words: which field, what it must be, what was sent. The contract's messages begin with
 * "must"; zod's own messages are converted to this form here.
 */
import { z } from 'zod';

type Issue = z.core.$ZodIssue;

const MAX_ISSUES = 5;
const MAX_CHARS = 64;
const MAX_NAMES = 12;

/** The name of the whole input ("the body", "the query"), and that of a field inside it. */
export interface Place {
  readonly whole: string;
  readonly field: (path: string) => string;
}

export const PLACES = {
  path: { whole: 'the path', field: (name) => `path parameter ${name}` },
  query: { whole: 'the query', field: (name) => `query parameter ${name}` },
  headers: { whole: 'the headers', field: (name) => `header ${name}` },
  body: {
    whole: 'the body',
    field: (path) => (path.startsWith('[') ? `body${path}` : `body.${path}`),
  },
} satisfies Readonly<Record<string, Place>>;

/** Describes what is wrong with an input that its schema refuses. */
export const describeProblems = (schema: z.ZodType, input: unknown, place: Place): string => {
  // `reportInput` adds the received values, which the message quotes.
  const { error } = schema.safeParse(input, { reportInput: true });
  const issues = error?.issues ?? [];
  // Keyed by the text, because two checks of a member may say the same.
  const problems = new Map<string, Problem>();
  for (const problem of issues.flatMap(problemsOf))
    problems.set(`${pathText(problem.path)} ${problem.must}`, problem);
  // A body can have thousands of faults; only the reported ones are put into words.
  const told = [...problems.values()].slice(0, MAX_ISSUES);
  const texts = told.map((problem) => describeProblem(problem, schema, input, place));
  const left = problems.size - told.length + issues.reduce((sum, issue) => sum + moreKeys(issue), 0);
  return [...texts, ...(left > 0 ? [`and ${left} more`] : [])].join('; ');
};

interface Problem {
  readonly issue: Issue;
  readonly path: readonly PropertyKey[];
  /** Null: the member at the path is unknown. */
  readonly must: string | null;
}

const problemsOf = (issue: Issue): readonly Problem[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.slice(0, MAX_ISSUES).map((key) => ({ issue, path: [...issue.path, key], must: null }))
    : [{ issue, path: issue.path, must: mustText(issue) }];

/** The number of an object's unknown members that are only counted. */
const moreKeys = (issue: Issue): number =>
  issue.code === 'unrecognized_keys' ? Math.max(0, issue.keys.length - MAX_ISSUES) : 0;

const describeProblem = (
  { issue, path, must }: Problem,
  schema: z.ZodType,
  input: unknown,
  place: Place,
): string => {
  const name = path.length === 0 ? place.whole : place.field(pathText(path));
  if (must === null) return `${name} is not known here (${knownText(listNames(schema, input, issue.path))})`;
  const orNull = issue.code !== 'custom' && mayBeNull(schema, path) ? ' or null' : '';
  const sent = sentText(issue, input);
  return sent === null ? `${name} is missing: it ${must}${orNull}` : `${name} ${must}${orNull}; got ${sent}`;
};

const knownText = (names: readonly string[]): string => {
  if (names.length === 0) return 'there are none';
  return `known: ${names.slice(0, MAX_NAMES).join(', ')}${names.length > MAX_NAMES ? ', …' : ''}`;
};

/** The members that the object at this path of the input may have. */
const listNames = (schema: z.ZodType, input: unknown, path: readonly PropertyKey[]): readonly string[] => {
  const bare = unwrap(schema);
  if (bare instanceof z.ZodDiscriminatedUnion) {
    const sent = ownMember(input, bare.def.discriminator);
    const option = bare.options.find(
      (one) => one instanceof z.ZodObject && one.shape[bare.def.discriminator]?.safeParse(sent).success,
    );
    return option instanceof z.ZodType ? listNames(option, input, path) : [];
  }
  const [step, ...rest] = path;
  if (bare instanceof z.ZodArray && step !== undefined)
    return listNames(bare.element as z.ZodType, ownMember(input, step), rest);
  if (!(bare instanceof z.ZodObject)) return [];
  if (step === undefined) return Object.keys(bare.shape);
  const member: unknown = bare.shape[String(step)];
  return member instanceof z.ZodType ? listNames(member, ownMember(input, step), rest) : [];
};

/** Whether the member at this path may be null; false for members of unions. */
const mayBeNull = (schema: z.ZodType, [step, ...rest]: readonly PropertyKey[]): boolean => {
  if (step === undefined)
    return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
      ? mayBeNull(schema.unwrap() as z.ZodType, [])
      : schema instanceof z.ZodNullable;
  const bare = unwrap(schema);
  if (!(bare instanceof z.ZodObject)) return false;
  const member: unknown = bare.shape[String(step)];
  return member instanceof z.ZodType && mayBeNull(member, rest);
};

const unwrap = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault
    ? unwrap(schema.unwrap() as z.ZodType)
    : schema;

const ownMember = (value: unknown, name: PropertyKey): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<PropertyKey, unknown>)[name]
    : undefined;

/** `keys[0].id`, with long names shortened. */
export const pathText = (path: readonly PropertyKey[]): string =>
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
      return `must ${amountText(issue.origin, 'at least', issue.minimum)}`;
    case 'too_big':
      return `must ${amountText(issue.origin, 'at most', issue.maximum)}`;
    default:
      return 'must have the documented form';
  }
};

const unionOptions = (issue: Issue): string | null => {
  const options: unknown = 'options' in issue ? issue.options : null;
  return Array.isArray(options) ? options.map((option) => JSON.stringify(option)).join(' or ') : null;
};

const UNITS: Readonly<Record<string, string>> = { array: 'item', string: 'character' };

const amountText = (origin: string, bound: string, amount: number | bigint): string => {
  const unit = UNITS[origin];
  return unit === undefined
    ? `be ${bound} ${amount}`
    : `have ${bound} ${amount} ${unit}${Number(amount) === 1 ? '' : 's'}`;
};

/** The received value in a few characters, or null if none was received. */
const sentText = (issue: Issue, whole: unknown): string | null => {
  const sent = sentOf(issue, whole);
  if (sent === undefined) return null;
  if (Array.isArray(sent)) return `an array of ${sent.length}`;
  if (typeof sent === 'object' && sent !== null) return 'an object';
  return brief(JSON.stringify(sent));
};

/** A rule about several members names one of them by its path, but its input is the whole object. */
const sentOf = (issue: Issue, whole: unknown): unknown => {
  if (issue.code === 'invalid_union' && 'discriminator' in issue)
    return (issue.input as Record<string, unknown>)[String(issue.discriminator)];
  const isOfWhole = issue.code === 'custom' && typeof issue.input === 'object' && issue.input !== null;
  return isOfWhole ? issue.path.reduce(ownMember, whole) : issue.input;
};

const brief = (text: string): string => (text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`);
