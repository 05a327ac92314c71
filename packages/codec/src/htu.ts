/**
 * The normal form of an HTTP URL (protocol §4, RFC 3986 §6.2.2 and §6.2.3). A Proof's `htu`, an Action's `resource` and
 * the URL that a relying party received are compared in this form. Query and fragment are removed; all other
 * differences remain unless the RFC calls the URLs equivalent. WHATWG `URL` has another normal form, so it is not used.
 *
 * Refused are:
 *
 * - user info;
 * - a backslash, white space, control or non-ASCII character;
 * - a malformed escape, also in the query and fragment;
 * - a host with characters outside reg-name, with an escape of an ASCII character that is not unreserved there, or with
 *   brackets around anything but an IPv6 address;
 * - a port with a leading zero or above 65535;
 * - a URL whose normal form would be too long, so that normalising twice gives the same as normalising once.
 *
 * In the path, every other printable ASCII character stands for itself.
 */
export const HTU_MAX_CHARS = 2048;
const DEFAULT_PORTS = { http: '80', https: '443' } as const;
type Scheme = keyof typeof DEFAULT_PORTS;

/** The normal form, or null where the text is not an acceptable absolute http or https URL. */
export const normalizeHtu = (text: string): string | null => {
  if (text.length > HTU_MAX_CHARS || !PLAIN_URL_TEXT.test(text)) return null;
  const scheme = findScheme(text);
  if (scheme === null) return null;
  const afterScheme = text.slice(scheme.length + '://'.length);
  const authorityEnd = indexOrEnd(afterScheme, /[/?#]/);
  const authority = normalizeAuthority(afterScheme.slice(0, authorityEnd), scheme);
  if (authority === null) return null;
  const afterAuthority = afterScheme.slice(authorityEnd);
  const path = normalizePath(afterAuthority.slice(0, indexOrEnd(afterAuthority, /[?#]/)));
  const normal = `${scheme}://${authority}${path}`;
  return normal.length > HTU_MAX_CHARS ? null : normal;
};

/** Printable ASCII without space and backslash, every `%` followed by two hex digits. */
const PLAIN_URL_TEXT = /^(?:[!-$&-[\]-~]|%[0-9A-Fa-f]{2})*$/;
const PERCENT_ESCAPE = /%[0-9A-Fa-f]{2}/g;
const UNRESERVED = /^[A-Za-z0-9._~-]$/;
/**
 * A host name. The only escapes left in it are those of bytes beyond ASCII. Any other would hide a character that ends
 * a host or is not allowed in one.
 */
const REG_NAME = /^(?:[a-z0-9._~!$&'()*+,;=-]|%[89A-F][0-9A-F])+$/;
const PORT = /^(?:0|[1-9][0-9]{0,4})$/;

const findScheme = (text: string): Scheme | null => {
  const start = text.slice(0, 'https://'.length).toLowerCase();
  if (start === 'https://') return 'https';
  return start.startsWith('http://') ? 'http' : null;
};

const indexOrEnd = (text: string, delimiter: RegExp): number => {
  const index = text.search(delimiter);
  return index < 0 ? text.length : index;
};

/**
 * An authority with user info fails here, because `@` is not a host character. So does one with an unclosed bracket,
 * because its host is empty.
 */
const normalizeAuthority = (authority: string, scheme: Scheme): string | null => {
  const hostEnd = authority.startsWith('[') ? authority.indexOf(']') + 1 : indexOrEnd(authority, /:/);
  const host = normalizeHost(authority.slice(0, hostEnd));
  const afterHost = authority.slice(hostEnd);
  if (host === null || (afterHost !== '' && !afterHost.startsWith(':'))) return null;
  const port = afterHost.slice(1);
  if (port === '' || port === DEFAULT_PORTS[scheme]) return host;
  return PORT.test(port) && Number(port) <= 65_535 ? `${host}:${port}` : null;
};

const normalizeHost = (text: string): string | null => {
  if (text.startsWith('[')) {
    const address = text.slice(1, -1).toLowerCase();
    return isIpv6(address) ? `[${address}]` : null;
  }
  // Lower case comes first: then the hex digits of remaining escapes are upper-cased again, and decoded letters are
  // lower-cased.
  const host = normalizeEscapes(text.toLowerCase(), (character) => character.toLowerCase());
  return REG_NAME.test(host) ? host : null;
};

/** Decodes escapes before it removes dot segments, because every reader that decodes later takes `%2E%2E` for `..`. */
const normalizePath = (path: string): string =>
  removeDotSegments(normalizeEscapes(path, (character) => character));

/** Upper-cases escapes, and replaces those of unreserved characters by `unreserved` of the character. */
const normalizeEscapes = (text: string, unreserved: (character: string) => string): string =>
  text.replace(PERCENT_ESCAPE, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return UNRESERVED.test(character) ? unreserved(character) : triplet.toUpperCase();
  });

/** RFC 3986 §5.2.4 for a path that is empty (the root) or starts with `/`. Empty segments are kept. */
const removeDotSegments = (path: string): string => {
  const segments = path.split('/').slice(1);
  const kept: string[] = [];
  for (const [i, segment] of segments.entries()) {
    if (segment !== '.' && segment !== '..') {
      kept.push(segment);
      continue;
    }
    if (segment === '..') kept.pop();
    if (i === segments.length - 1) kept.push('');
  }
  return `/${kept.join('/')}`;
};

/** RFC 3986 §3.2.2 IPv6address in lower case. The spelling is neither shortened nor expanded. */
const isIpv6 = (text: string): boolean => {
  const halves = text.split('::');
  const [head = '', tail] = halves;
  if (halves.length > 2) return false;
  const headGroups = countGroups(head, tail === undefined);
  if (tail === undefined) return headGroups === 8;
  return headGroups + countGroups(tail, true) <= 7;
};

/** Number of 16-bit groups in the text; NaN if it is malformed. Only the end of an address may be dotted IPv4. */
const countGroups = (text: string, endsAddress: boolean): number => {
  if (text === '') return 0;
  const groups = text.split(':');
  const last = groups.at(-1) ?? '';
  const dotted = endsAddress && IPV4.test(last);
  const plain = dotted ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => H16.test(group))) return Number.NaN;
  return plain.length + (dotted ? 2 : 0);
};

const H16 = /^[0-9a-f]{1,4}$/;
const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
