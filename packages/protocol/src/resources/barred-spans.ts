/**
 * The places of a URL that no wildcard passes (protocol §6): what another reader, who decodes once more than RFC 3986 does,
 * could take for a way out of what a pattern grants. Servers that decode `%2F` or `%252F` before they look for `..`, that
 * take a backslash for a slash, end a text at NUL, or cut `;parameters` off a segment are common; some decode `%u002F` and
 * forms that UTF-8 forbids, or take the slashes of other scripts for one.
 */
import { type Decoded, decodeFully } from './decode-fully.ts';

/** A range of characters: the first, and the one behind the last. */
export type Span = readonly [start: number, end: number];

const DOT = 0x2e;
const SLASH = 0x2f;
/** What ends the name of a segment for some: parameters, and the query or fragment of a URL that was decoded too early. */
const ENDS = [0x3b, 0x3f, 0x23];
const BACKSLASH = 0x5c;

/** The barred spans of a path in `normalizeHtu` form. */
export const listBarredInPath = (path: string): readonly Span[] => {
  if (!/[%;]/.test(path)) return [];
  const characters = decodeFully(path);
  const hidden = characters.filter(isHidden).map((character) => [character]);
  return [...hidden, ...listSegments(characters).filter(isDotSegment)].map(spanOf);
};

/** The barred spans of an authority in `normalizeHtu` form: every escape, since a resolver may take it for another host. */
export const listBarredInAuthority = (authority: string): readonly Span[] =>
  [...authority.matchAll(/%../g)].map(({ index }) => [index, index + 3]);

const isEscaped = ({ start, end }: Decoded): boolean => end - start > 1;

/** A slash, a backslash or a control character that is written as an escape. */
const isHidden = (character: Decoded): boolean =>
  isEscaped(character) &&
  (character.code === SLASH ||
    character.code === BACKSLASH ||
    character.code < 0x20 ||
    character.code === 0x7f);

/** What stands between slashes and backslashes of whatever spelling. */
const listSegments = (characters: readonly Decoded[]): readonly (readonly Decoded[])[] => {
  const segments: Decoded[][] = [[]];
  for (const character of characters)
    if (character.code === SLASH || character.code === BACKSLASH) segments.push([]);
    else segments.at(-1)?.push(character);
  return segments;
};

/** `.` or `..`, whatever parameters, query or fragment follow. */
const isDotSegment = (segment: readonly Decoded[]): boolean => {
  const end = segment.findIndex(({ code }) => ENDS.includes(code));
  const name = end < 0 ? segment : segment.slice(0, end);
  return (name.length === 1 || name.length === 2) && name.every(({ code }) => code === DOT);
};

const spanOf = (characters: readonly Decoded[]): Span => [
  characters[0]?.start ?? 0,
  characters.at(-1)?.end ?? 0,
];
