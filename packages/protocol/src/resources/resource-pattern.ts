/**
 * Resource patterns of Capabilities (interface §Capability, protocol §6). `*` stands for any run without `/`, `**`
 * (and any longer run of asterisks, which is the same set of texts) for any run; every other character is itself. The
 * pattern `*` alone matches every resource.
 *
 * A pattern moves a set of places in the resource, 32 of them at a time (places.ts), so that hundreds of patterns full of
 * wildcards cost a millisecond. No regular expressions and no glob library: what a pattern grants must not depend on
 * characters such as `{`, `[`, `?` or `!`.
 */
import { listBarredInAuthority, listBarredInPath, type Span } from './barred-spans.ts';
import { Places } from './places.ts';

/** The longest resource pattern, in UTF-16 code units. */
export const MAX_PATTERN_CHARS = 512;
/** The most runs of asterisks in a resource pattern. */
export const MAX_ASTERISK_RUNS = 8;
const MAX_RESOURCE_CHARS = 2048;
const EVERYTHING = '*';

/** 1–512 characters (UTF-16 code units) with at most 8 runs of asterisks. */
export const isResourcePattern = (text: string): boolean =>
  text.length >= 1 && text.length <= MAX_PATTERN_CHARS && countAsteriskRuns(text) <= MAX_ASTERISK_RUNS;

/** Whether the pattern matches a resource as submitted. False beyond the bounds of either. */
export const matchesResource = (pattern: string, resource: string): boolean =>
  resourceMatcher(resource)(pattern);

/** The same for many patterns and one resource, which is looked at once. */
export const resourceMatcher = (resource: string): ((pattern: string) => boolean) => {
  if (resource.length > MAX_RESOURCE_CHARS) return () => false;
  const matches = globMatcher(resource);
  return (pattern) => isResourcePattern(pattern) && (pattern === EVERYTHING || matches(pattern));
};

/**
 * Whether the pattern matches a URL in `normalizeHtu` form. Scheme, authority and path are matched one by one, so a
 * wildcard in the host never reaches into the path.
 *
 * The scheme is literal: a pattern that does not start with `http://` or `https://`, wildcards there included,
 * matches nothing. A pattern without a path (`https://shop.example`, `https://**`) names only the path `/`, which is
 * what the URL it spells normalises to; to grant every path takes `/**`. What a server could take for a way out of what the
 * pattern spells (barred-spans.ts) is passed by no wildcard.
 */
export const matchesUrl = (pattern: string, normalizedUrl: string): boolean =>
  urlMatcher(normalizedUrl)(pattern);

/** The same for many patterns and one URL, which is looked at once. */
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
 * Walks the pattern piece by piece, literals and runs of asterisks in turn. The places reached are those up to which the
 * pieces so far can match.
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
