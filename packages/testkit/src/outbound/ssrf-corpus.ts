/**
 * Inputs with which a customer could make the service connect to its own internal network. None of these may lead to a
 * connection. Every URL is tried as written and as the URL parser would rewrite it, so that a later layer has to refuse
 * it as well.
 */

import ipaddr from 'ipaddr.js';
import { addressesReply, addressRecord, type Question, RCODE, type Reply } from './dns-server.ts';
import { IANA_IPV4_SPECIAL, IANA_IPV6_SPECIAL, OTHER_SPECIAL } from './iana-special-purpose.ts';

/** Spellings of 127.0.0.1 and ::1 that a plain client connects to loopback with; the positive controls of the trap. */
export const LOOPBACK_SPELLINGS = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '017700000001', '0x7f000001', '0x7F.1', '0x7f.0.0.1'],
  ...['0177.0.0.1', '0177.0.0.01', '0x7f.0x0.0x0.0x1', '127.0.0x1', '127.0.0.01', '00000177.0.0.1'],
  ...['１２７.0.0.1', '①②⑦.0.0.1', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '%31%32%37.0.0.1'],
  ...['𝟙𝟚𝟟.0.0.1', '¹²⁷.0.0.1', '12\u00ad7.0.0.1', '12\u200b7.0.0.1', '127.0.0.1.'],
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::0.0.0.1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
] as const;

const OTHER_LITERALS = [
  ...['0', '0.0.0.0', '00', '0x0', '[::]', '[0::0]', '127.127.127.127', '127.255.255.254', '0.0.0.1'],
  ...[
    '10.0.0.1',
    '012.0.0.1',
    '0xa.1',
    '167772161',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '192.168.1',
  ],
  ...['3232235521', '0300.0250.0.1', '169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376'],
  ...[
    '169.254.43518',
    '169.16689662',
    '100.64.0.1',
    '100.100.100.200',
    '192.0.0.192',
    '198.18.0.1',
    '224.0.0.1',
  ],
  ...['240.0.0.1', '255.255.255.255', '4294967295', '168.63.129.16', '8.8.8.8', '1.1', '134744072'],
  ...['[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[fec0::1]', '[ff02::1]', '[64:ff9b::7f00:1]'],
  ...[
    '[64:ff9b::169.254.169.254]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    '[::ffff:a9fe:a9fe]',
    '[::a9fe:a9fe]',
  ],
  ...[
    '[2606:4700:4700::1111]',
    '[::ffff:8.8.8.8]',
    '[fe80::1%25lo]',
    '[::1%25lo]',
    '[v1.fe80]',
    '[::1',
    '::1]',
  ],
  ...['256.0.0.1', '1.2.3.4.5', '0x7f.0.0.0.1', '09.0.0.1', '4294967296', '127.0.0.0x', '1e2', '1.2.3.0x'],
] as const;

const SPECIAL_NAMES = [
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'localhost.localdomain', 'ip6-localhost'],
  ...['metadata', 'metadata.google.internal', 'instance-data.ec2.internal', 'kubernetes', 'postgres'],
  ...['kubernetes.default.svc.cluster.local', 'printer.local', 'router.lan', 'nas.home', 'gw.home.arpa'],
  ...[
    'wpad.corp',
    'vault.private',
    'wiki.intranet',
    'facebookcorewwwi.onion',
    'x.test',
    'x.invalid',
    'x.alt',
  ],
  ...['1.0.0.127.in-addr.arpa', 'ipv4only.arpa', 'resolver.arpa', 'com', 'internal', 'svc-db', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ'],
  ...[
    'ｌocalhost',
    'locaｌhost',
    'local\u00adhost',
    '%6cocalhost',
    'localhost%00.acme.example',
    'a..acme.example',
  ],
  ...[
    '.acme.example',
    'acme.example.',
    'acme.example..',
    '-a.acme.example',
    'a-.acme.example',
    '_a.acme.example',
  ],
  ...['a_b.acme.example', '*.acme.example', `${'a'.repeat(64)}.acme.example`, `${'a.'.repeat(126)}example`],
  ...[
    'acme.example%2f127.0.0.1',
    'acme.example%23',
    'acme.example%40127.0.0.1',
    'acme.example%3a22',
    'a cme.example',
  ],
  ...[
    'bücher.example',
    'acme.exаmple',
    'ACME.example',
    'acme。example',
    'acme.example,127.0.0.1',
    'acme!.example',
  ],
] as const;

const PORTS = [
  0, 1, 22, 25, 80, 442, 444, 2375, 5432, 6379, 8080, 8443, 9200, 9464, 10_250, 65_535, 65_979,
] as const;

const SCHEMES = [
  ...[
    'http',
    'ftp',
    'file',
    'gopher',
    'ws',
    'wss',
    'ldap',
    'dict',
    'tftp',
    'sftp',
    'jar:https',
    'view-source',
  ],
  ...['unix', 'blob:https', 'data', 'javascript', 'about', 'HTTPS', 'https+unix', 'httpſ'],
] as const;

const TRICKS = [
  ...['https://user@acme.example/', 'https://user:password@acme.example/', 'https://:p@acme.example/'],
  ...['https://acme.example@127.0.0.1/', 'https://acme.example:443@127.0.0.1/', 'https://@127.0.0.1/'],
  ...['https://acme.example\\@127.0.0.1/', 'https://127.0.0.1\\@acme.example/', 'https:\\\\127.0.0.1\\'],
  ...['https:/127.0.0.1/', 'https:127.0.0.1/', 'https:///127.0.0.1/', 'https:////127.0.0.1/', '//127.0.0.1/'],
  ...[
    '/etc/passwd',
    '',
    ' ',
    'https://',
    'https:///',
    'https://?',
    'https://#',
    'https://:443/',
    'https://[]/',
  ],
  ...[
    'https://127.0.0.1#acme.example/',
    'https://127.0.0.1?acme.example/',
    'https://acme.example/#',
    '127.0.0.1',
  ],
  ...[
    'https://127.0.0.1%09/',
    'https://127.0.\n0.1/',
    'https://local\thost/',
    ' https://127.0.0.1/',
    'https://127.0.0.1 /',
  ],
  ...[
    'https://acme.example/x y',
    'https://acme.example/\r\nHost: x',
    'https://acme.example/a/../b',
    'https://acme.example/%2e%2e/b',
  ],
  ...[
    'https://acme.example',
    'https://acme.example:443/',
    'https://acme.example:/',
    'https://acme.example:0443/',
  ],
  ...[
    'https://acme.example/#fragment',
    `https://acme.example/${'a'.repeat(2048)}`,
    'https://acme.example:４４３/',
  ],
  ...[
    'https://acme.example:80:443/',
    'https://acme.example:-1/',
    'https://acme.example:443x/',
    'https://acme.example/ä',
  ],
] as const;

const texts = [
  ...[...LOOPBACK_SPELLINGS, ...OTHER_LITERALS, ...SPECIAL_NAMES].map((host) => `https://${host}/did.json`),
  ...PORTS.flatMap((port) => [`https://acme.example:${port}/`, `https://127.0.0.1:${port}/`]),
  ...SCHEMES.flatMap((scheme) => [`${scheme}://acme.example:80/`, `${scheme}://127.0.0.1/`]),
  ...TRICKS,
];

const rewritten = (text: string): string | null => {
  try {
    return new URL(text).href;
  } catch {
    return null;
  }
};

const PUBLIC_HOSTS = new Set(['acme.example', 'xn--bcher-kva.example', 'acme.xn--exmple-4nf']);

/**
 * Texts that rewriting turned into an ordinary URL of a public host. Such a URL is allowed, and not part of this
 * corpus.
 */
const isOrdinary = (text: string): boolean => {
  const { protocol, host, username, password } = new URL(text);
  const isPlain = username === '' && password === '' && !text.includes('#') && text.length <= 2048;
  return protocol === 'https:' && PUBLIC_HOSTS.has(host) && isPlain;
};

/** URL texts that are refused before any name is looked up or connection made. */
export const REFUSED_URLS: readonly string[] = [
  ...new Set([...texts, ...texts.map(rewritten).filter((text) => text !== null && !isOrdinary(text))]),
].filter((text) => text !== null);

/** DIDs whose documents may not be fetched, and texts that are no DIDs. */
export const REFUSED_DIDS = [
  ...[
    '127.0.0.1',
    'localhost',
    '2130706433',
    '0x7f.1',
    '127.1',
    '169.254.169.254',
    'db',
    'metadata.google.internal',
  ],
  ...[
    'acme.example%3A22',
    'acme.example%3A443',
    'localhost%3A5432',
    '127.0.0.1%3A80',
    '%5B%3A%3A1%5D',
    '[::1]',
  ],
  ...[
    'acme.example%2F..%2Fadmin',
    'acme.example%40127.0.0.1',
    'acme.example:..:..:admin',
    'acme.example:%2e%2e',
  ],
  ...[
    'acme.example@127.0.0.1',
    'acme.example#x',
    'acme.example?x',
    'acme.example/x',
    'acme.example:',
    ':a',
    '',
  ],
  ...[
    'ACME.example',
    'acme.example.',
    'ａcme.example',
    '①②⑦.0.0.1',
    'x.onion',
    'x.test',
    'a.local',
    'x.corp',
  ],
].map((rest) => `did:web:${rest}`);

export interface DnsCase {
  readonly title: string;
  readonly respond: (question: Question) => Reply;
  readonly outcome: 'address' | 'dns' | 'no-address';
}

const PUBLIC_4 = '93.184.215.14';
const PUBLIC_6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';

const constant = (title: string, addresses: readonly string[]): DnsCase => ({
  title,
  respond: (question) => addressesReply(question, addresses, 0),
  outcome: 'address',
});

/** First, last and one middle address of every special block, each as the only answer for a name. */
const specialAddresses = [...IANA_IPV4_SPECIAL, ...IANA_IPV6_SPECIAL, ...OTHER_SPECIAL].flatMap((cidr) => {
  const [network, prefix] = ipaddr.parseCIDR(cidr);
  const bytes = network.toByteArray();
  const filled = (fill: number) =>
    bytes.map((byte, i) => {
      const mask = (0xff << (8 - Math.min(8, Math.max(0, prefix - 8 * i)))) & 0xff;
      return (byte & mask) | (fill & ~mask & 0xff);
    });
  const spelled = [0x00, 0xff, 0x55].map((fill) => ipaddr.fromByteArray(filled(fill)).toNormalizedString());
  return [...new Set(spelled)].map((address) => constant(`${address} (${cidr})`, [address]));
});

const INSIDE = [
  '127.0.0.1',
  '10.0.0.1',
  '169.254.169.254',
  '::1',
  'fd00::1',
  '::ffff:127.0.0.1',
  '64:ff9b::7f00:1',
];

const mixed = INSIDE.flatMap((inside) => [
  constant(`public, then ${inside}`, [PUBLIC_4, PUBLIC_6, inside]),
  constant(`${inside}, then public`, [inside, PUBLIC_4, PUBLIC_6]),
  constant(`${inside} among many`, [...Array.from({ length: 20 }, (_, i) => `93.184.215.${i + 1}`), inside]),
]);

const throughCname = INSIDE.map(
  (inside): DnsCase => ({
    title: `an alias of an alias of ${inside}`,
    respond: ({ name, type }) => ({
      answers: [
        { type: 'CNAME', name, data: 'cdn.example', ttl: 0 },
        { type: 'CNAME', name: 'cdn.example', data: 'localhost', ttl: 0 },
        ...[addressRecord('localhost', inside)].filter((record) => record.type === type),
      ],
    }),
    outcome: 'address',
  }),
);

const failing = (title: string, outcome: 'dns' | 'no-address', reply: Reply): DnsCase => ({
  title,
  respond: () => reply,
  outcome,
});

const failures: DnsCase[] = [
  ...Object.entries(RCODE)
    .filter(([title]) => title !== 'NXDOMAIN')
    .map(([title, rcode]) => failing(title, 'dns', { rcode })),
  failing('NXDOMAIN', 'no-address', { rcode: RCODE.NXDOMAIN }),
  failing('no records', 'no-address', { answers: [] }),
  failing('silence', 'dns', 'silence'),
  failing('garbage', 'dns', 'garbage'),
  failing('an answer to another question', 'dns', 'other-question'),
  failing('a loop of aliases', 'no-address', {
    answers: [
      { type: 'CNAME', name: 'a.example', data: 'b.example', ttl: 0 },
      { type: 'CNAME', name: 'b.example', data: 'a.example', ttl: 0 },
    ],
  }),
  {
    title: 'truncated, and nobody on TCP',
    respond: ({ transport }) => (transport === 'udp' ? 'truncated' : 'hang-up'),
    outcome: 'dns',
  },
  {
    title: 'truncated, and loopback on TCP',
    respond: (question) =>
      question.transport === 'udp' ? 'truncated' : addressesReply(question, ['127.0.0.1', '::1']),
    outcome: 'address',
  },
  {
    title: 'loopback for IPv6 only',
    respond: (question) => addressesReply(question, question.type === 'A' ? [PUBLIC_4] : ['::1']),
    outcome: 'address',
  },
  {
    title: 'SERVFAIL for IPv4, loopback for IPv6',
    respond: (question) =>
      question.type === 'A' ? { rcode: RCODE.SERVFAIL } : addressesReply(question, ['::1']),
    outcome: 'address',
  },
];

/** DNS behaviours of a harmless-looking name. */
export const DNS_CASES: readonly DnsCase[] = [...specialAddresses, ...mixed, ...throughCname, ...failures];
