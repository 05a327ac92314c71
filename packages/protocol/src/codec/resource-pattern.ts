/**
 * Resource patterns of Capabilities (interface §Capability, protocol §6). `*` stands for any run without `/`, `**`
 * (and any longer run of asterisks, which is the same set of texts) for any run; every other character is itself. The
 * pattern `*` alone matches every resource.
 *
 * Every piece of a pattern is one pass over the resource. No regular expressions and no glob library: what a pattern
 * grants must not depend on characters such as `{`, `[`, `?` or `!`.
 */
export const MAX_PATTERN_CHARS = 512;
export const MAX_ASTERISK_RUNS = 8;
const MAX_RESOURCE_CHARS = 2048;
const EVERYTHING = '*';
const SLASH = 0x2f;

/** 1–512 characters (UTF-16 code units) with at most 8 runs of asterisks. */
export const isResourcePattern = (text: string): boolean =>
  text.length >= 1 && text.length <= MAX_PATTERN_CHARS && countAsteriskRuns(text) <= MAX_ASTERISK_RUNS;

/** Whether the pattern matches a resource as submitted. False beyond the bounds of either. */
export const matchesResource = (pattern: string, resource: string): boolean => {
  if (!isResourcePattern(pattern) || resource.length > MAX_RESOURCE_CHARS) return false;
  return pattern === EVERYTHING || matchesGlob(pattern, resource);
};

/**
 * Whether the pattern matches a URL in `normalizeHtu` form. Scheme, authority and path are matched one by one, so a
 * wildcard in the host never reaches into the path.
 *
 * The scheme is literal: a pattern that does not start with `http://` or `https://`, wildcards there included,
 * matches nothing. A pattern without a path (`https://shop.example`, `https://**`) names only the path `/`, which is
 * what the URL it spells normalises to; to grant every path takes `/**`.
 */
export const matchesUrl = (pattern: string, normalizedUrl: string): boolean => {
  if (!isResourcePattern(pattern) || normalizedUrl.length > MAX_RESOURCE_CHARS) return false;
  if (pattern === EVERYTHING) return true;
  const granted = splitUrl(pattern);
  const url = splitUrl(normalizedUrl);
  return (
    granted !== null &&
    url !== null &&
    granted.scheme === url.scheme &&
    matchesGlob(granted.authority, url.authority) &&
    matchesGlob(granted.path, url.path)
  );
};

/** No authority holds a `/`, so both wildcards mean the same in one. */
const splitUrl = (text: string): { scheme: string; authority: string; path: string } | null => {
  const scheme = ['https://', 'http://'].find((start) => text.startsWith(start));
  if (scheme === undefined) return null;
  const slash = text.indexOf('/', scheme.length);
  return slash < 0
    ? { scheme, authority: text.slice(scheme.length), path: '/' }
    : { scheme, authority: text.slice(scheme.length, slash), path: text.slice(slash) };
};

const countAsteriskRuns = (text: string): number => {
  let runs = 0;
  for (let i = text.indexOf('*'); i >= 0; i = text.indexOf('*', endOfRun(text, i))) runs++;
  return runs;
};

const endOfRun = (text: string, start: number): number => {
  let end = start;
  while (text.charAt(end) === '*') end++;
  return end;
};

/**
 * Walks the pattern piece by piece, literals and runs of asterisks in turn. `reached[i]` is 1 where the pieces so far
 * can match the first `i` characters.
 */
const matchesGlob = (pattern: string, text: string): boolean => {
  if (!pattern.includes('*')) return pattern === text;
  let reached = new Uint8Array(text.length + 1);
  reached[0] = 1;
  let start = 0;
  while (start < pattern.length) {
    let end = endOfRun(pattern, start);
    if (end > start) {
      spreadWildcard(reached, text, end - start > 1);
    } else {
      end = pattern.indexOf('*', start);
      if (end < 0) end = pattern.length;
      reached = advanceLiteral(reached, text, pattern.slice(start, end));
    }
    start = end;
  }
  return reached[text.length] === 1;
};

/** From every reached place the wildcard reaches on, up to the next `/` unless it crosses them. */
const spreadWildcard = (reached: Uint8Array, text: string, crossesSlash: boolean): void => {
  for (let i = 0; i < text.length; i++) {
    if (reached[i] === 1 && (crossesSlash || text.charCodeAt(i) !== SLASH)) reached[i + 1] = 1;
  }
};

/** Moves every reached place behind an occurrence of the literal. One pass over the text (Knuth–Morris–Pratt). */
const advanceLiteral = (reached: Uint8Array, text: string, literal: string): Uint8Array<ArrayBuffer> => {
  const next = new Uint8Array(text.length + 1);
  const borders = bordersOf(literal);
  let matched = 0;
  for (let end = 1; end <= text.length; end++) {
    matched = extend(literal, borders, matched, text.charCodeAt(end - 1));
    if (matched === literal.length && reached[end - matched] === 1) next[end] = 1;
  }
  return next;
};

/** Entry `i`: how long the longest proper prefix of the literal is that also ends its first `i + 1` characters. */
const bordersOf = (literal: string): Uint16Array => {
  const borders = new Uint16Array(literal.length);
  let matched = 0;
  for (let i = 1; i < literal.length; i++) {
    matched = extend(literal, borders, matched, literal.charCodeAt(i));
    borders[i] = matched;
  }
  return borders;
};

/** How much of the literal ends at the next character, given how much ended at the one before. */
const extend = (literal: string, borders: Uint16Array, matched: number, code: number): number => {
  let length = matched;
  // Past the end of the literal `charCodeAt` is NaN, so a complete match falls back as a mismatch does.
  while (length > 0 && literal.charCodeAt(length) !== code) length = borders[length - 1] ?? 0;
  return literal.charCodeAt(length) === code ? length + 1 : 0;
};
