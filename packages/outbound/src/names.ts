/**
 * Host and DNS names that may be requested: LDH names of at least two labels, in lower case, without a trailing dot
 * (which makes another name for certificates and `Host`), and not under a special-use top-level name.
 */
import { parseDidWeb } from '@svc/protocol';
import { type Refused, refused } from './answers.ts';

/**
 * Names that never belong to the public DNS: the IANA registry of special-use names (RFC 6761, 6762, 7686, 9476; `arpa`
 * as a whole), `internal` as reserved by ICANN, and the private namespaces of RFC 6762 appendix G with `localdomain`.
 * `example` is left out: by RFC 6761 §6.5 applications treat it like any name, and it leads nowhere.
 */
const SPECIAL_TOP_LEVEL_NAMES: ReadonlySet<string> = new Set([
  ...['alt', 'arpa', 'invalid', 'local', 'localhost', 'onion', 'test'],
  ...['internal', 'intranet', 'private', 'corp', 'home', 'lan', 'localdomain'],
]);

const MAX_NAME_CHARS = 253;
/** Labels such as `_svc-challenge`, which precede a host name and are not part of one (RFC 8552). */
const UNDERSCORED_LABELS = /^(?:_[a-z0-9-]{1,62}\.)+/;

export const findHostNameRefusal = (host: string): Refused | null => {
  // The grammar of the DIDs that name these hosts. It also refuses every notation of an IP address.
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
