import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HTU_MAX_CHARS, normalizeHtu } from './htu.ts';

describe('normalizeHtu', () => {
  it.each([
    ['HTTPS://API.Example.COM/v1', 'https://api.example.com/v1'],
    ['https://api.example', 'https://api.example/'],
    ['https://api.example?x=1', 'https://api.example/'],
    ['https://api.example#f', 'https://api.example/'],
    ['https://api.example/a?x=/../b#c', 'https://api.example/a'],
    ['https://api.example/a#f?x', 'https://api.example/a'],
    ['https://api.example:443/', 'https://api.example/'],
    ['https://api.example:/', 'https://api.example/'],
    ['https://api.example:80/', 'https://api.example:80/'],
    ['http://api.example:80/', 'http://api.example/'],
    ['http://api.example:443/', 'http://api.example:443/'],
    ['http://localhost:8080/a', 'http://localhost:8080/a'],
    ['http://h:65535/', 'http://h:65535/'],
    ['http://h:0/', 'http://h:0/'],
    ['https://h/%7euser/%41%2d%2E%5f', 'https://h/~user/A-._'],
    ['https://h/a%2fb%c3%a9', 'https://h/a%2Fb%C3%A9'],
    ['https://h/%252e', 'https://h/%252e'],
    ['https://h/%25%32%65', 'https://h/%252e'],
    ['https://h/a/./b/../c', 'https://h/a/c'],
    ['https://h/a/%2e%2E/b', 'https://h/b'],
    ['https://h/../../a', 'https://h/a'],
    ['https://h/..', 'https://h/'],
    ['https://h/.', 'https://h/'],
    ['https://h/a/..', 'https://h/'],
    ['https://h/a/b/.', 'https://h/a/b/'],
    ['https://h/a/b/..', 'https://h/a/'],
    ['https://h/a//b/', 'https://h/a//b/'],
    ['https://h//', 'https://h//'],
    ['https://h/a//../b', 'https://h/a/b'],
    ['https://h/..//a', 'https://h//a'],
    ['https://h/...', 'https://h/...'],
    ['https://h/a..b/.c', 'https://h/a..b/.c'],
    ["https://h/a;p=1,2:@!$&'()*+", "https://h/a;p=1,2:@!$&'()*+"],
    ['https://h/a|b^c{d}[e]"<>`', 'https://h/a|b^c{d}[e]"<>`'],
    ['https://h/a@b', 'https://h/a@b'],
    ['https://%41PI.example%2d1/', 'https://api.example-1/'],
    ['https://h%c3%a9/', 'https://h%C3%A9/'],
    ['https://192.0.2.1/', 'https://192.0.2.1/'],
    ['https://0x7F.1/', 'https://0x7f.1/'],
    ['https://example.com./', 'https://example.com./'],
    ['https://[2001:DB8::1]:443/a', 'https://[2001:db8::1]/a'],
    ['https://[::]/', 'https://[::]/'],
    ['http://[::ffff:192.0.2.1]:8080', 'http://[::ffff:192.0.2.1]:8080/'],
    ['https://[1:2:3:4:5:6:7:8]/', 'https://[1:2:3:4:5:6:7:8]/'],
    ['https://[1:2:3:4:5:6:7::]/', 'https://[1:2:3:4:5:6:7::]/'],
    ['https://[1:2:3:4:5:6:1.2.3.4]/', 'https://[1:2:3:4:5:6:1.2.3.4]/'],
  ])('%s becomes %s', (text, normal) => {
    expect(normalizeHtu(text)).toBe(normal);
  });

  it.each([
    ...[
      '',
      '/',
      'a',
      '//h/',
      'h/a',
      'ftp://h/',
      'ws://h/',
      'file:///a',
      'http:/h',
      'http:h',
      'https:',
      'https://',
      'http:///a',
    ],
    ...[
      'https://?x',
      'https://#f',
      'https://:443/',
      ' https://h/',
      'https://h/ ',
      'https://h/a b',
      'https://h/\n',
      'ht\ntps://h/',
    ],
    ...[
      'https://h/\u0000',
      'https://h/\u007f',
      'https://h/é',
      'https://hé/',
      'https://h/\u{1f602}',
      'https://h/\u00a0',
    ],
    ...[
      'https://h\\a',
      'https://h/\\..\\a',
      'https:\\\\h',
      'https://h/?\\',
      'https://u@h/',
      'https://u:p@h/',
      'https://@h/',
    ],
    ...[
      'https://a@b@h/',
      'https://h/%',
      'https://h/%4',
      'https://h/%4g',
      'https://h/?%zz',
      'https://h/#%',
      'https://%/',
    ],
    ...[
      'https://h:65536/',
      'https://h:080/',
      'https://h:00/',
      'https://h:0443/',
      'https://h:8a/',
      'https://h:-1/',
      'https://h:+80/',
    ],
    ...[
      'https://h:80:80/',
      'https://h::80/',
      'https://h:123456/',
      'https://h:%38/',
      'https://h{/',
      'https://h|/',
      'https://h"/',
    ],
    ...[
      'https://[/',
      'https://]/',
      'https://[]/',
      'https://[::1/',
      'https://[::1]a/',
      'https://[::1]]/',
      'https://a[::1]/',
      'https://[:::]/',
    ],
    ...[
      'https://[1:2:3:4:5:6:7]/',
      'https://[1:2:3:4:5:6:7:8:9]/',
      'https://[1::2::3]/',
      'https://[12345::]/',
      'https://[g::]/',
      'https://[:]/',
    ],
    ...[
      'https://[1:2:3:4:5:6:7:8::]/',
      'https://[::1.2.3]/',
      'https://[::1.2.3.256]/',
      'https://[::01.2.3.4]/',
      'https://[1.2.3.4::]/',
    ],
    ...[
      'https://[fe80::1%25eth0]/',
      'https://[%3A%3A1]/',
      'https://[v1.a]/',
      'https://[1.2.3.4]/',
      'https://[::1]:x/',
      'https://[1:]/',
    ],
  ])('refuses %j', (text) => {
    expect(normalizeHtu(text)).toBeNull();
  });

  it('accepts 2,048 characters and refuses more, also in the result', () => {
    const start = 'https://h/';
    const longest = start + 'a'.repeat(2048 - start.length);
    expect(normalizeHtu(longest)).toBe(longest);
    expect(normalizeHtu(`${longest}a`)).toBeNull();
    expect(normalizeHtu(`http://${'a'.repeat(2041)}`)).toBeNull();
  });

  const part = fc.constantFrom(
    ...[
      'http://',
      'HTTPS://',
      'https://',
      'h',
      'H.example',
      '.',
      '..',
      '/',
      '//',
      '/./',
      '/../',
      ':',
      '443',
      '80',
      '8080',
    ],
    ...[
      '%2e',
      '%2F',
      '%7E',
      '%41',
      '%25',
      '%c3',
      '?',
      '#',
      '@',
      '[',
      ']',
      '[::1]',
      '[A::]',
      '*',
      'a',
      '~',
      ' ',
      '\\',
      '%',
      '|',
    ],
  );
  const url = fc
    .tuple(fc.constantFrom('http://', 'HTTPS://', ''), fc.array(part, { maxLength: 9 }))
    .map(([scheme, parts]) => scheme + parts.join(''));

  it('is idempotent, and its result has nothing that protocol §4 removes', () => {
    let accepted = 0;
    fc.assert(
      fc.property(url, (text) => {
        const normal = normalizeHtu(text);
        if (normal === null) return;
        accepted++;
        expect(normalizeHtu(normal)).toBe(normal);
        expect(normal).toMatch(/^https?:\/\/[^/?#@A-Z]*(?:%[0-9A-F]{2}[^/?#@A-Z]*)*\/[^?#\s\\]*$/);
        const path = normal.slice(normal.indexOf('/', 'https://'.length));
        expect(`${path}/`).not.toMatch(/\/\.{1,2}\//);
        expect(normal).not.toMatch(/%(?:2E|2D|5F|7E|4[1-9])|%[0-9A-F]?[a-f]/);
      }),
      { numRuns: sampled({ quick: 1_000, deep: 10_000 }) },
    );
    expect(accepted).toBeGreaterThan(sampled({ quick: 50, deep: 500 }));
  });

  it('agrees with WHATWG URL on URLs without escapes and with ordinary hosts and segments', () => {
    // No segment such as `.a`, because some versions of `URL` mishandle a final `.` after it.
    const segment = fc.constantFrom('', 'a', 'B1', '-_~', 'a.b', 'a.', '.', '..');
    const path = fc.array(segment, { maxLength: 6 }).map((segments) => segments.join('/'));
    fc.assert(
      fc.property(
        fc.constantFrom('http', 'HTTPS'),
        fc.constantFrom('', ':80', ':443', ':8443'),
        path,
        (scheme, port, rest) => {
          const text = `${scheme}://Shop.example${port}/${rest}?q=1#f`;
          const { origin, pathname } = new URL(text);
          expect(normalizeHtu(text)).toBe(origin + pathname);
        },
      ),
      { numRuns: sampled({ quick: 300, deep: 2_000 }) },
    );
  });

  it.each([
    ...['mailto:shop.example/x', 'ftp://shop.example/', 'httpx://shop.example/', 'ttps://shop.example/'],
    ...[
      'https://user@shop.example:8443/',
      'https://:8443/',
      'https://a%2Fb:8443/',
      'https://[::1]x/',
      'https://[::1]x:443/',
      'https://[::1/',
      'https://[::1]]/',
      'https://]/',
      'https://[/',
    ],
    ...['https://[1:2:3:4:5:6:7::8]/', 'https://[1::2:3:4:5:6:7:8]/', 'https://[1:x:3:4:5:6:7:8]/'],
    ...['https://[::x:1]/', 'https://[::1:1.2.3.4:1]/', 'https://[1:2:3:4:5:6:7:1.2.3.4]/'],
    `https://shop.example/?${'q'.repeat(HTU_MAX_CHARS)}`,
  ])('refuses %.60s', (text) => {
    expect(normalizeHtu(text)).toBeNull();
  });

  it.each([
    ['https://[1:2:3:4:5:6::8]', 'https://[1:2:3:4:5:6::8]/'],
    ['http://[::]:81/x', 'http://[::]:81/x'],
    ['https://[1:2:3:4:5:6:1.2.3.4]:443/', 'https://[1:2:3:4:5:6:1.2.3.4]/'],
    ['https://[::FFFF:1.2.3.4]?q', 'https://[::ffff:1.2.3.4]/'],
    ['https://a.example:65535', 'https://a.example:65535/'],
    ['https://a.example?a/b', 'https://a.example/'],
    ['https://a.example#a/b', 'https://a.example/'],
  ])('%s becomes %s', (text, normal) => {
    expect(normalizeHtu(text)).toBe(normal);
  });
});
