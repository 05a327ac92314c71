/**
 * Parsers of single values. Each returns the value or a phrase that begins with "must". The phrase never contains the
 * value, which may be a secret.
 */
import {
  isJsonObject,
  isOrgId,
  isStringArray,
  type OrgId,
  parseDidWeb,
  parseStrictJson,
} from '@svc/protocol';
import type { OutboundMap } from './config.ts';

export type Value<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly must: string };
export type ValueParser<T> = (text: string) => Value<T>;

const good = <T>(value: T): Value<T> => ({ ok: true, value });
const bad = (must: string): Value<never> => ({ ok: false, must });

export const oneOf =
  <const T extends string>(...choices: readonly T[]): ValueParser<T> =>
  (text) => {
    const choice = choices.find((candidate) => candidate === text);
    return choice === undefined ? bad(`must be ${choices.join(' or ')}`) : good(choice);
  };

export const integer =
  (minimum: number, maximum: number): ValueParser<number> =>
  (text) => {
    const value = Number(text);
    const ok = /^(0|[1-9][0-9]{0,9})$/.test(text) && value >= minimum && value <= maximum;
    return ok ? good(value) : bad(`must be an integer from ${minimum} to ${maximum}`);
  };

export const flag: ValueParser<boolean> = (text) =>
  text === '1' || text === '0' ? good(text === '1') : bad('must be 1 or 0');

/** An http or https address without query and fragment; a trailing slash is dropped. */
export const address: ValueParser<string> = (text) => {
  const must = 'must be an http or https address without user info, query, fragment or white space';
  if (!/^https?:\/\/[^\s?#@]+$/.test(text) || !URL.canParse(text)) return bad(must);
  return good(text.replace(/\/+$/, ''));
};

/** One server or, as in libpq, several with commas between. */
export const databaseUrl: ValueParser<string> = (text) => {
  const [, scheme, hosts, rest] = /^(postgres(?:ql)?:\/\/(?:[^/?#\s]*@)?)([^@/?\s]*)(\S*)$/.exec(text) ?? [];
  const servers = hosts?.split(',').map((host) => `${scheme}${host}${rest}`) ?? [];
  return servers.length > 0 &&
    servers.every((server) => URL.canParse(server)) &&
    !hosts?.split(',').includes('')
    ? good(text)
    : bad('must be a postgres:// or postgresql:// address, with one host or several separated by commas');
};

/** `none`, `file:///folder` or `s3://bucket/prefix`. */
export const fencePlace: ValueParser<string> = (text) =>
  text === 'none' || /^(file:\/\/\/[^?#\s]+|s3:\/\/[a-z0-9.-]{3,63}(\/[^?#\s]*)?)$/.test(text)
    ? good(text)
    : bad(
        'must be none, file:///<folder> or s3://<bucket>/<prefix>, with a bucket of 3 to 63 characters a-z, 0-9, . and -',
      );

/** A domain in the spelling of DIDs: LDH labels, a port after `%3A`. */
export const didDomain: ValueParser<string> = (text) =>
  parseDidWeb(`did:web:${text}`)?.path.length === 0
    ? good(text)
    : bad('must be a lower-case host name and not an IP address, followed by %3A<port> if it has a port');

export const path: ValueParser<string> = (text) =>
  text.includes('\u0000') ? bad('must be a path') : good(text);

export const hostName: ValueParser<string> = (text) =>
  /^[A-Za-z0-9.:-]+$/.test(text) ? good(text) : bad('must be a host name or an IP address');

/**
 * A secret that is sent as a bearer token. The `dk_` prefix is refused: it belongs to API keys, which are issued and
 * can be revoked, and a configured secret must not be taken for one.
 */
export const secret: ValueParser<string> = (text) =>
  /^[A-Za-z0-9._~+/-]{32,512}=*$/.test(text) && !text.startsWith('dk_')
    ? good(text)
    : bad('must be 32 to 512 characters A-Z a-z 0-9 . _ ~ + / - and must not begin with dk_');

export const listOf =
  <T>(parse: ValueParser<T>): ValueParser<readonly T[]> =>
  (text) => {
    const values: T[] = [];
    for (const item of text.split(',')) {
      const parsed = parse(item.trim());
      if (!parsed.ok) return bad(`must be a comma-separated list, each item of which ${parsed.must}`);
      values.push(parsed.value);
    }
    return new Set(values).size === values.length
      ? good(values)
      : bad('must not contain the same item twice');
  };

export const orgIdText: ValueParser<OrgId> = (text) =>
  isOrgId(text) ? good(text) : bad('must be an org id: org_ followed by a ULID');

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?$/;

export const outboundMap: ValueParser<OutboundMap> = (text) => {
  const must = 'must be a JSON object of host name → loopback base URL and "txt:<name>" → array of strings';
  const json = parseStrictJson(text);
  if (!json.ok || !isJsonObject(json.value)) return bad(must);
  const hosts: Record<string, string> = Object.create(null);
  const txt: Record<string, readonly string[]> = Object.create(null);
  for (const [name, value] of Object.entries(json.value)) {
    if (name.startsWith('txt:') && isStringArray(value)) txt[name.slice(4)] = value;
    else if (!name.startsWith('txt:') && typeof value === 'string' && LOOPBACK.test(value))
      hosts[name] = value;
    else return bad(must);
  }
  return good({ hosts, txt });
};
