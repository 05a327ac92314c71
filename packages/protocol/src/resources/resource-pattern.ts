/**
 * Resource patterns of Capabilities (interface §Capability, protocol §6). `*` matches any run without `/`. `**` matches
 * any run; so does any longer run of asterisks. Every other character matches itself. The pattern `*` alone matches
 * every resource.
 *
 * A pattern moves a set of places in the resource, 32 of them at a time (places.ts), so that hundreds of patterns full
 * of wildcards cost a millisecond. There are no regular expressions and no glob library, because characters such as
 * `{`, `[`, `?` or `!` must not change what a pattern grants.
 */
import { listBarredInAuthority, listBarredInPath, type Span } from './barred-spans.ts';
import { Places } from './places.ts';

/** The maximum length of a resource pattern, in UTF-16 code units. */
export const MAX_PATTERN_CHARS = 512;
/** The maximum number of runs of asterisks in a resource pattern. */
export const MAX_ASTERISK_RUNS = 8;
const MAX_RESOURCE_CHARS = 2048;
const EVERYTHING = '*';

/** 1–512 characters (UTF-16 code units) with at most 8 runs of asterisks. */
export const isResourcePattern = (text: string): boolean =>
  text.length >= 1 && text.length <= MAX_PATTERN_CHARS && countAsteriskRuns(text) <= MAX_ASTERISK_RUNS;

/** Whether the pattern matches a resource as submitted. False if either exceeds its limits. */
export const matchesResource = (pattern: string, resource: string): boolean =>
  resourceMatcher(resource)(pattern);

/** The same for many patterns and one resource, which is prepared once. */
export const resourceMatcher = (resource: string): ((pattern: string) => boolean) => {
  if (resource.length > MAX_RESOURCE_CHARS) return () => false;
  const matches = globMatcher(resource);
  return (pattern) => isResourcePattern(pattern) && (pattern === EVERYTHING || matches(pattern));
};

/**
 * Whether the pattern matches a URL in `normalizeHtu` form. Scheme, authority and path are matched one by one, so a
 * wildcard in the host never extends into the path.
 *
 * The scheme is literal: except `*` alone, a pattern that does not start with `http://` or `https://` matches nothing,
 * also if it starts with a wildcard. A pattern without a path (`https://shop.example`, `https://**`) matches only the
 * path `/`, because the URL that it spells normalises to that; `/**` grants every path. Except in `*` alone, no
 * wildcard matches text that a server could take for a way out of the pattern (barred-spans.ts).
 */
export const matchesUrl = (pattern: string, normalizedUrl: string): boolean =>
  urlMatcher(normalizedUrl)(pattern);

/** The same for many patterns and one URL, which is parsed once. */
export const urlMatcher = (normalizedUrl: string): ((pattern: string) => boolean) => {
  if (normalizedUrl.length > MAX_RESOURCE_CHARS) return () => false;
  const url = splitUrl(normalizedUrl);
  if (url === null) return (pattern) => pattern === EVERYTHING;
  const matchesAuthority = globMatcher(url.authority, listBarredInAuthority);
  const matchesPath = globMatcher(url.path, listBarredInPath);
  return (pattern) => {
    if (pattern === EVERYTHING) return true;
    const granted = isResourcePattern(pattern) ? splitUrl(pattern) : null;
    return (
      granted !== null &&
      granted.scheme === url.scheme &&
      matchesAuthority(granted.authority) &&
      matchesPath(granted.path)
    );
  };
};

/** No authority contains a `/`, so `*` and `**` mean the same in it. */
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
 * Processes the pattern piece by piece: literals and runs of asterisks in turn. The set holds the places up to which
 * the pieces so far can match.
 */
const globMatcher = (
  text: string,
  listBarred: (text: string) => readonly Span[] = () => [],
): ((pattern: string) => boolean) => {
  let places: Places | null = null;
  return (pattern) => {
    if (!pattern.includes('*')) return pattern === text;
    places ??= new Places(text, listBarred(text));
    places.startOver();
    for (let i = 0; i < pattern.length; ) {
      const end = endOfRun(pattern, i);
      if (end > i) places.spread(end - i > 1);
      else places.advance(pattern.charCodeAt(i));
      i = Math.max(end, i + 1);
    }
    return places.hasReachedEnd();
  };
};
