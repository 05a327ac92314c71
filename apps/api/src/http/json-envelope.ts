/**
 * The envelope of `POST /verify` (protocol §5). Only the envelope itself is validated here. Faults inside a member are
 * evaluated and denied, and never answered 400. Therefore a member that is an object but not strict JSON (a duplicate
 * member, a fraction, U+0000) is passed on as an empty object, which is no Action.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseStrictJson } from '@svc/protocol';

export type EnvelopeResult =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problem: string };

export const parseJsonEnvelope = (text: string): EnvelopeResult => {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: syntaxProblem(text) };
  }
  if (!isJsonObject(value)) return { ok: true, value };
  const members = splitMembers(text);
  if (members.length > MAX_MEMBERS) return { ok: false, problem: `it has more than ${MAX_MEMBERS} members` };
  const twice = findTwice(members);
  if (twice !== null)
    return { ok: false, problem: `the member ${JSON.stringify(twice.slice(0, 64))} stands twice` };
  return { ok: true, value: withStrictObjects(value, members) };
};

/**
 * Far more than any envelope has. Objects with more are not read further: a body of very many members would block all
 * other requests.
 */
const MAX_MEMBERS = 16;

/**
 * Problems of strict JSON that ordinary JSON allows. If the strict parser stops at one of these, the fault that makes
 * the text no JSON lies further on.
 */
const STRICTNESS = /^(?:byte|duplicate|nested|lone|U\+|number (?:not|out))/;

const syntaxProblem = (text: string): string => {
  const strict = parseStrictJson(text);
  return strict.ok || STRICTNESS.test(strict.problem)
    ? 'it does not parse'
    : `${strict.problem} at character ${strict.offset}`;
};

interface Member {
  readonly name: string;
  /** The text of the value. */
  readonly text: string;
}

/** The first name that occurs a second time. */
const findTwice = (members: readonly Member[]): string | null => {
  const seen = new Set<string>();
  for (const { name } of members) {
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return null;
};

const withStrictObjects = (value: JsonObject, members: readonly Member[]): JsonObject => {
  const objects = members.filter(({ text }) => text.startsWith('{'));
  if (objects.length === 0) return value;
  const strict = objects.map(({ name, text }) => {
    const parsed = parseStrictJson(text);
    return [name, parsed.ok ? parsed.value : {}] as const;
  });
  return { ...value, ...Object.fromEntries(strict) };
};

/** Top-level members of an object's text, which is known to parse; at most one more than the maximum. */
const splitMembers = (text: string): readonly Member[] => {
  const members: Member[] = [];
  let at = skipSpace(text, text.indexOf('{') + 1);
  while (text[at] !== '}' && members.length <= MAX_MEMBERS) {
    const nameEnd = endOfString(text, at);
    const valueStart = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    members.push({ name: JSON.parse(text.slice(at, nameEnd)), text: text.slice(valueStart, valueEnd) });
    at = skipSpace(text, valueEnd);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
};

const SPACE = ' \t\n\r';

const skipSpace = (text: string, from: number): number => {
  let at = from;
  while (SPACE.includes(text.charAt(at)) && at < text.length) at++;
  return at;
};

/** Position behind the closing quote of the string that starts at `start`. */
const endOfString = (text: string, start: number): number => {
  let at = text.indexOf('"', start + 1);
  while (isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at + 1;
};

const isEscaped = (text: string, quote: number): boolean => {
  let backslashes = 0;
  while (text[quote - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
};

const endOfValue = (text: string, start: number): number => {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first !== '{' && first !== '[') return endOfScalar(text, start);
  let at = start;
  let depth = 0;
  do {
    const character = text[at];
    if (character === '{' || character === '[') depth++;
    if (character === '}' || character === ']') depth--;
    at = character === '"' ? endOfString(text, at) : at + 1;
  } while (depth > 0);
  return at;
};

/** Position behind a number, `true`, `false` or `null`. */
const endOfScalar = (text: string, start: number): number => {
  let at = start;
  while (!`${SPACE},}`.includes(text.charAt(at))) at++;
  return at;
};
