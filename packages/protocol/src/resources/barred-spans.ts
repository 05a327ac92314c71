/**
 * The parts of a URL that no wildcard matches (protocol §6). Another reader of the URL, which decodes more than RFC
 * 3986 does, could take such a part for a way out of what the pattern grants. Servers that do one of these are common:
 *
 * - decode `%2F` or `%252F` before they resolve `..`;
 * - take a backslash for a slash;
 * - end a text at NUL;
 * - cut `;parameters` off a segment.
 *
 * Some servers decode `%u002F` and forms that UTF-8 forbids, or take slashes of other scripts for `/`.
 */
import { type Decoded, decodeFully } from './decode-fully.ts';

/** A range of characters: index of the first, and index behind the last. */
export type Span = readonly [start: number, end: number];

const DOT = 0x2e;
const SLASH = 0x2f;
/**
 * Characters that end the name of a segment for some servers: `;` (parameters), and `?` or `#` (query or fragment) of a
 * URL that was decoded too early.
 */
const ENDS = [0x3b, 0x3f, 0x23];
const BACKSLASH = 0x5c;

/** The barred spans of a path in `normalizeHtu` form. */
export const listBarredInPath = (path: string): readonly Span[] => {
  if (!/[%;]/.test(path)) return [];
  const characters = decodeFully(path);
  const hidden = characters.filter(isHidden).map((character) => [character]);
  return [...hidden, ...listSegments(characters).filter(isDotSegment)].map(spanOf);
};

/**
 * The barred spans of an authority in `normalizeHtu` form: every escape, since a resolver may decode it to another
 * host.
 */
export const listBarredInAuthority = (authority: string): readonly Span[] =>
  [...authority.matchAll(/%../g)].map(({ index }) => [index, index + 3]);

const isEscaped = ({ start, end }: Decoded): boolean => end - start > 1;

/** Whether a character is a slash, a backslash or a control character that is written as an escape. */
const isHidden = (character: Decoded): boolean =>
  isEscaped(character) &&
  (character.code === SLASH ||
    character.code === BACKSLASH ||
    character.code < 0x20 ||
    character.code === 0x7f);

/** The characters between slashes and backslashes, whatever spelling these have. */
const listSegments = (characters: readonly Decoded[]): readonly (readonly Decoded[])[] => {
  const segments: Decoded[][] = [[]];
  for (const character of characters)
    if (character.code === SLASH || character.code === BACKSLASH) segments.push([]);
    else segments.at(-1)?.push(character);
  return segments;
};

/** Whether a segment is `.` or `..`, with or without parameters, query or fragment after it. */
const isDotSegment = (segment: readonly Decoded[]): boolean => {
  const end = segment.findIndex(({ code }) => ENDS.includes(code));
  const name = end < 0 ? segment : segment.slice(0, end);
  return (name.length === 1 || name.length === 2) && name.every(({ code }) => code === DOT);
};

const spanOf = (characters: readonly Decoded[]): Span => [
  characters[0]?.start ?? 0,
  characters.at(-1)?.end ?? 0,
];
