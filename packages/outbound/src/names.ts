/**
 * Host and DNS names that may be asked for outside: LDH names of at least two labels, in lower case, without the
 * trailing dot (it is another name to certificates and to `Host`), and under no top-level name with a special use.
 */
import { parseDidWeb } from '@svc/protocol';
import { type Refused, refused } from './answers.ts';

/**
 * Names that are never the public DNS's: the IANA registry of special-use names (RFC 6761, 6762, 7686, 9476; `arpa` as
 * a whole), ICANN's reservation of `internal`, and the private namespaces of RFC 6762 appendix G with `localdomain`.
 * `example` is left out: RFC 6761 §6.5 has applications treat it like any name, and it leads nowhere.
 */
const SPECIAL_TOP_LEVEL_NAMES: ReadonlySet<string> = new Set([
  ...['alt', 'arpa', 'invalid', 'local', 'localhost', 'onion', 'test'],
  ...['internal', 'intranet', 'private', 'corp', 'home', 'lan', 'localdomain'],
]);

const MAX_NAME_CHARS = 253;
/** Labels such as `_svc-challenge`, which stand in front of a host name and are no host's own (RFC 8552). */
const UNDERSCORED_LABELS = /^(?:_[a-z0-9-]{1,62}\.)+/;

export const findHostNameRefusal = (host: string): Refused | null => {
  // One grammar with the DIDs that name these hosts; it also keeps out every notation of an IP address.
  if (parseDidWeb(`did:web:${host}`)?.host !== host) return refused('name', 'not a host name');
  const labels = host.split('.');
  if (labels.length < 2) return refused('name', 'a host name without a dot is local');
  const top = labels.at(-1) ?? '';
  return SPECIAL_TOP_LEVEL_NAMES.has(top) ? refused('name', `.${top} is a special-use name`) : null;
};

export const findDnsNameRefusal = (name: string): Refused | null =>
  name.length > MAX_NAME_CHARS
    ? refused('name', 'a DNS name has at most 253 characters')
    : findHostNameRefusal(name.replace(UNDERSCORED_LABELS, ''));
