/** Other spellings of a URL: for normalizeHtu many are the same request, some are another one, and some are refused. */
import type { Random } from './random.ts';

type Spelling = (url: string, random: Random) => string;

const at = (text: string, random: Random): number => random.below(text.length + 1);

const inPath = (url: string, insert: string): string => {
  const slash = url.indexOf('/', url.indexOf('//') + 2);
  return slash < 0 ? url + insert : url.slice(0, slash) + insert + url.slice(slash);
};

const inAuthority = (url: string, edit: (authority: string) => string): string =>
  url.replace(/^([^/]*\/\/)([^/?#]*)/, (_, scheme: string, authority: string) => scheme + edit(authority));

const PORTS = [':', ':80', ':443', ':0', ':00', ':0443', ':8443', ':65535', ':65536', ':x'] as const;
const HOSTS = [
  '[::1]',
  '[2001:DB8::1]',
  '[::ffff:1.2.3.4]',
  '[1::2::3]',
  '[v1.a]',
  '127.0.0.1',
  'a_b',
  '',
] as const;
const SEGMENTS = ['/.', '/..', '/%2e', '/%2E%2e', '/a/..', '//', '/...', '/%2F', '/~', '/%7E'] as const;
const TREACHEROUS = [
  ...['%2F', '%5C', '%00', '%252f', '%255C', '%2500', '%25252F', '%0a', '%7f', '%2520'],
  ...[
    '/..%2F',
    '/..;/',
    '/.;x',
    '/%252e%252E/',
    '/..%5cx',
    '%2F..',
    '/...%2F',
    '/;/',
    '/%253B',
    '/..%3bx/',
    '%25',
  ],
] as const;
const ODD = ['\\', ' ', '%', '%4', '%zz', '%00', '\u00e9', '@', '#', '?', '|', '[', '"', '\t'] as const;

const SPELLINGS: readonly Spelling[] = [
  (url) => url.toUpperCase(),
  (url) => inAuthority(url, (authority) => authority.toUpperCase()),
  (url, random) => inPath(url, random.pick(TREACHEROUS)),
  (url, random) => url + random.pick(TREACHEROUS),
  (url, random) =>
    inAuthority(url, (authority) => random.pick(['%00', '%2F', '%c3%b6', '%252e']) + authority),
  (url) => url.replace(/^https?/, (scheme) => (scheme === 'http' ? 'https' : 'http')),
  (url, random) => inAuthority(url, (authority) => authority + random.pick(PORTS)),
  (url, random) => inAuthority(url, () => random.pick(HOSTS)),
  (url, random) => inAuthority(url, (authority) => `${random.pick(['u@', '@', 'u:p@'])}${authority}`),
  (url, random) => inPath(url, random.pick(SEGMENTS)),
  (url, random) => url + random.pick(['/', '?q=1', '#f', '?', '/.', '/..', '%2f']),
  (url, random) => {
    const i = at(url, random);
    const escaped = (url.charCodeAt(i) || 0x41).toString(16).padStart(2, '0');
    return `${url.slice(0, i)}%${random.below(2) === 0 ? escaped : escaped.toUpperCase()}${url.slice(i + 1)}`;
  },
  (url, random) => {
    const i = at(url, random);
    return url.slice(0, i) + random.pick(ODD) + url.slice(i);
  },
];

/** Makes up to three changes of spelling, one after another. */
export const respell = (url: string, random: Random): string => {
  let spelled = url;
  for (let changes = random.below(4); changes > 0; changes--)
    spelled = random.pick(SPELLINGS)(spelled, random);
  return spelled;
};
