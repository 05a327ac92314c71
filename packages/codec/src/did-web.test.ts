import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didWebDocumentUrl, parseDidWeb } from './did-web.ts';

const documentUrl = (did: string): string | null => {
  const parsed = parseDidWeb(did);
  return parsed === null ? null : didWebDocumentUrl(parsed);
};

const hostileHosts = [
  ...[
    '',
    '.',
    '..',
    '-',
    '-a.example',
    'a-.example',
    'a..example',
    '.example',
    'example.',
    'a_b.example',
    '*.example',
  ],
  ...[
    'Example.com',
    'EXAMPLE.COM',
    'exámple.com',
    'ｅxample.com',
    '①②⑦.0.0.1',
    'example。com',
    'xn--ü.example',
  ],
  ...[
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '0',
    '1.2.3.4.5',
    'a.0x',
    'a.0x7f',
  ],
  ...[
    '[::1]',
    '::1',
    '[::ffff:a9fe:a9fe]',
    '%5B%3A%3A1%5D',
    'localhost.0',
    '169.254.169.254',
    '10.0.0.1',
    'example.1',
  ],
  ...[
    'user@example.com',
    'user%40example.com',
    'example.com%40evil.com',
    'example.com@evil.com',
    'a:b@example.com',
  ],
  ...[
    'example.com%2Fadmin',
    'example.com%2f..%2Fadmin',
    'example.com%5Cadmin',
    'example.com\\admin',
    'example.com%00',
  ],
  ...[
    'example.com%23',
    'example.com%3F',
    'example.com%',
    'example.com%3',
    'example.com%2E',
    '%65xample.com',
    'a b.example',
  ],
  ...[
    'example.com\t',
    'example.com\n',
    '\texample.com',
    'example.com%20',
    'example.com%0d%0a',
    'a,b.example',
    'a;b.example',
  ],
  ...[
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(126)}aa`,
    'a'.repeat(600),
    '"a".example',
    "a'.example",
    'a$.example',
  ],
  ...[
    'example.com%3a8080',
    'example.com%3A',
    'example.com%3A0',
    'example.com%3A08',
    'example.com%3A65536',
    'example.com%3A99999',
  ],
  ...[
    'example.com%3A80%3A80',
    'example.com%3A8080%2Fadmin',
    'example.com%3A-1',
    'example.com%3A+1',
    'example.com%3A1e3',
  ],
  ...[
    'example.com%3A123456',
    'example.com%3A 80',
    'example.com%3Aabc',
    '%3A80',
    'example.com%253A80',
    'example.com%EF%BC%8Ea',
  ],
];
const hostileSegments = [
  ...[
    '',
    '.',
    '..',
    '%2E%2E',
    '%2e%2e',
    '%2F',
    '..%2Fadmin',
    '%2F..%2Fadmin',
    'a/b',
    '/',
    '\\',
    '%5C',
    '%00',
    '%40evil.com',
  ],
  ...[
    'a b',
    'a\n',
    '#key-1',
    'a#b',
    'a?b',
    '?',
    '@',
    'a;b',
    'a,b',
    'é',
    '．．',
    '%',
    '%2',
    '*',
    '~',
    "a'b",
    'a"b',
    'a&b',
    'a=b',
    'a+b',
  ],
];
const hostile = [
  ...hostileHosts.map((host) => `did:web:${host}`),
  ...hostileHosts.map((host) => `did:web:${host}:org:acme`),
  ...hostileSegments.map((segment) => `did:web:example.com:${segment}`),
  ...hostileSegments.map((segment) => `did:web:example.com:org:${segment}:acme`),
  ...[
    '',
    'did:',
    'did:web',
    'did:web:',
    'DID:web:example.com',
    'did:WEB:example.com',
    ' did:web:example.com',
    'web:example.com',
  ],
  ...[
    'did:web:example.com ',
    'did:web:example.com\n',
    'did:web:example.com/a',
    'did:web:example.com#key-1',
    'did:web:example.com?a=b',
  ],
  ...[
    'did:webvh:example.com',
    'did:key:z6Mk',
    'https://example.com',
    'did:web:https://example.com',
    'did:web://example.com',
  ],
  `did:web:example.com:${'a'.repeat(512)}`,
];

describe('did:web', () => {
  it.each([
    ['did:web:example.com', 'https://example.com/.well-known/did.json'],
    ['did:web:localhost', 'https://localhost/.well-known/did.json'],
    ['did:web:localhost%3A8080', 'https://localhost:8080/.well-known/did.json'],
    ['did:web:svc.example:org:acme', 'https://svc.example/org/acme/did.json'],
    ['did:web:localhost%3A8080:rp:shop', 'https://localhost:8080/rp/shop/did.json'],
    ['did:web:a-1.b--2.xn--bcher-kva.example', 'https://a-1.b--2.xn--bcher-kva.example/.well-known/did.json'],
    ['did:web:example.com:A.b_c-9:...', 'https://example.com/A.b_c-9/.../did.json'],
    ['did:web:1.example', 'https://1.example/.well-known/did.json'],
    ['did:web:example.com:8080', 'https://example.com/8080/did.json'],
  ])('%s is served at %s', (did, url) => {
    expect(documentUrl(did)).toBe(url);
  });

  it('is parsed into host, port and path', () => {
    const did = 'did:web:localhost%3A8080:org:acme';
    expect(parseDidWeb(did)).toEqual({ did, host: 'localhost', port: 8080, path: ['org', 'acme'] });
  });

  it('gives the same parts each time, whatever a caller does with them', () => {
    const did = 'did:web:again.example%3A8080:org:acme';
    const first = parseDidWeb(did) ?? { path: [] };
    expect(() => Object.assign(first, { host: 'other.example' })).toThrow(TypeError);
    expect(() => Object.assign(first.path, ['other'])).toThrow(TypeError);
    expect(parseDidWeb(did)).toEqual({ did, host: 'again.example', port: 8080, path: ['org', 'acme'] });
  });

  it('stays refused when it is parsed again', () => {
    for (const did of ['did:web:127.0.0.1', 'did:web:again.example#key-1', 'did:web:again.example:..'])
      expect([parseDidWeb(did), parseDidWeb(did)]).toEqual([null, null]);
  });

  it('gives an http URL only if this is requested', () => {
    const parsed = parseDidWeb('did:web:localhost%3A1');
    expect(parsed && didWebDocumentUrl(parsed, 'http')).toBe('http://localhost:1/.well-known/did.json');
  });

  it(`refuses ${hostile.length} hostile DIDs`, () => {
    expect(hostile.length).toBeGreaterThanOrEqual(200);
    expect(hostile.filter((did) => parseDidWeb(did) !== null)).toEqual([]);
  });

  it('is accepted only if it can be rebuilt from the URL that a browser would fetch', () => {
    const part = fc.constantFrom(
      'a',
      'B',
      '1',
      '.',
      '-',
      '_',
      '0x',
      '%3A',
      '%2F',
      '%3a',
      '@',
      ':',
      '8080',
      'localhost',
      '..',
      '/',
    );
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const did = `did:web:${parts.join('')}`;
        const url = documentUrl(did);
        if (url === null) return;
        accepted++;
        const { protocol, host, pathname, username, search, hash } = new URL(url);
        expect([protocol, username, search, hash]).toEqual(['https:', '', '', '']);
        const path = pathname.replace(/^\/\.well-known\/did\.json$/, '').replace(/\/did\.json$/, '');
        expect(`did:web:${host.replace(':', '%3A')}${path.replaceAll('/', ':')}`).toBe(did);
      }),
      { numRuns: sampled({ quick: 500, deep: 5_000 }) },
    );
    expect(accepted).toBeGreaterThan(sampled({ quick: 3, deep: 50 }));
  });

  it('accepts 512 characters and refuses 513', () => {
    const prefix = 'did:web:example.com:';
    expect(parseDidWeb(prefix + 'a'.repeat(512 - prefix.length))).not.toBeNull();
    expect(parseDidWeb(prefix + 'a'.repeat(513 - prefix.length))).toBeNull();
  });

  it('accepts a host of 253 characters and port 65535, and refuses more', () => {
    const host = `${'a'.repeat(63)}.${'a'.repeat(63)}.${'a'.repeat(63)}.${'a'.repeat(61)}`;
    expect(host).toHaveLength(253);
    expect(parseDidWeb(`did:web:${host}`)).toMatchObject({ host, port: null });
    expect(parseDidWeb(`did:web:${host}a`)).toBeNull();
    expect(parseDidWeb('did:web:a.example%3A65535')).toMatchObject({ port: 65_535 });
    expect(parseDidWeb('did:web:a.example%3A65536')).toBeNull();
  });

  it('refuses a last host label that is a number, and accepts one that only begins or ends like a number', () => {
    const hosts = ['a.b1', 'a.1b', 'a.x0x1', 'a.0x1g', '1.0x.a', 'a.1', 'a.0x', 'a.0x1f'];
    expect(hosts.map((host) => parseDidWeb(`did:web:${host}`) !== null)).toEqual([
      ...[true, true, true, true, true],
      ...[false, false, false],
    ]);
  });
});
