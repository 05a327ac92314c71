import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isResourcePattern, matchesResource, matchesUrl } from './resource-pattern.ts';

/** The definition taken literally, in exponential time. */
const matchesNaively = (pattern: string, text: string): boolean => {
  if (pattern === '') return text === '';
  if (pattern.startsWith('**')) {
    return matchesNaively(pattern.slice(2), text) || (text !== '' && matchesNaively(pattern, text.slice(1)));
  }
  if (pattern.startsWith('*')) {
    const consumes = text !== '' && !text.startsWith('/');
    return matchesNaively(pattern.slice(1), text) || (consumes && matchesNaively(pattern, text.slice(1)));
  }
  return pattern[0] === text[0] && matchesNaively(pattern.slice(1), text.slice(1));
};

const patternOf = (...pieces: string[]): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...pieces), minLength: 1, maxLength: 8 }).filter(isResourcePattern);

describe('isResourcePattern', () => {
  it('limits a pattern to 512 characters and 8 runs of asterisks', () => {
    expect(isResourcePattern('')).toBe(false);
    expect(isResourcePattern('a'.repeat(512))).toBe(true);
    expect(isResourcePattern('a'.repeat(513))).toBe(false);
    expect(isResourcePattern('a*'.repeat(8))).toBe(true);
    expect(isResourcePattern('a**'.repeat(8))).toBe(true);
    expect(isResourcePattern('a*'.repeat(9))).toBe(false);
    expect(isResourcePattern('*'.repeat(512))).toBe(true);
  });
});

describe('matchesResource', () => {
  it('agrees with a naive implementation of the definition', () => {
    let matched = 0;
    fc.assert(
      fc.property(
        patternOf('a', 'b', 'ab', 'aa', '/', '*', '**'),
        fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 9 }),
        (pattern, text) => {
          const expected = pattern === '*' || matchesNaively(pattern, text);
          expect(matchesResource(pattern, text)).toBe(expected);
          if (expected) matched++;
        },
      ),
      { numRuns: sampled({ quick: 2_000, deep: 20_000 }) },
    );
    expect(matched).toBeGreaterThan(sampled({ quick: 20, deep: 500 }));
  });

  it('gives the same result when equal text surrounds the pattern and the resource', () => {
    const pieces = ['a', 'b', 'aa', '/', '*', '**'];
    const filler = fc.string({ unit: fc.constantFrom('a', 'b', '/', 'x'), maxLength: 100 });
    fc.assert(
      fc.property(
        patternOf(...pieces),
        fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 9 }),
        filler,
        filler,
        (pattern, text, before, after) => {
          const expected = matchesNaively(pattern, text);
          expect(matchesResource(`${before}x${pattern}x${after}`, `${before}x${text}x${after}`)).toBe(
            expected,
          );
        },
      ),
      { numRuns: sampled({ quick: 2_000, deep: 20_000 }) },
    );
  });

  it('lets a wildcard match text of any length, and `*` never match a slash', () => {
    for (const length of [30, 31, 32, 33, 63, 64, 65, 500, 2_040]) {
      const far = 'a'.repeat(length);
      const cut = `${far.slice(1)}/`;
      for (const [pattern, text, expected] of [
        ['x*z', `x${far}z`, true],
        ['x*z', `x${cut}z`, false],
        ['x**z', `x${cut}z`, true],
        ['x*/z', `x${cut}z`, true],
      ] as const)
        expect([pattern, length, matchesResource(pattern, text)]).toEqual([pattern, length, expected]);
    }
  });

  it('matches every text that was generated from the pattern', () => {
    const segment = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 4 });
    const piece = fc.oneof(
      segment.map((text) => [text.replaceAll('*', ''), text.replaceAll('*', '')] as const),
      segment.map((text) => ['*', text] as const),
      fc.array(segment, { maxLength: 3 }).map((texts) => ['**', texts.join('/')] as const),
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), (pieces) => {
        const pattern = pieces.map(([p]) => p).join('');
        fc.pre(isResourcePattern(pattern));
        expect(matchesResource(pattern, pieces.map(([, t]) => t).join(''))).toBe(true);
      }),
      { numRuns: sampled({ quick: 300, deep: 2_000 }) },
    );
  });

  it.each([
    ['*', '', true],
    ['*', 'a/b/c', true],
    ['**', 'a/b/c', true],
    ['order/*', 'order/1', true],
    ['order/*', 'order/', true],
    ['order/*', 'order/1/items', false],
    ['order/**', 'order/1/items', true],
    ['order/**', 'order', false],
    ['order/*/items', 'order//items', true],
    ['order/**/items', 'order/items', false],
    ['*/*', 'a/b', true],
    ['*/*', 'a/b/c', false],
    ['***', 'a/b', true],
    ['a***b', 'a/x/b', true],
    ['order', 'Order', false],
    ['{a,b}', 'a', false],
    ['{a,b}', '{a,b}', true],
    ['[ab]', 'a', false],
    ['a?c', 'abc', false],
    ['!a', 'b', false],
    ['a.c', 'abc', false],
    ['\\*', '*', false],
    ['\\*', '\\anything', true],
    ['a|b', 'a', false],
    ['$', '$', true],
    ['**\u{1f602}', 'x/\u{1f602}', true],
  ])('matches %s against %s: %s', (pattern, resource, expected) => {
    expect(matchesResource(pattern, resource)).toBe(expected);
  });

  it('matches nothing when the pattern or the resource exceeds its limits', () => {
    expect(matchesResource('a*'.repeat(9), 'a'.repeat(9))).toBe(false);
    expect(matchesResource('*', 'a'.repeat(2048))).toBe(true);
    expect(matchesResource('*', 'a'.repeat(2049))).toBe(false);
    expect(matchesResource('', '')).toBe(false);
  });

  it('decides the worst input for backtracking', () => {
    const pattern = `${`**${'a'.repeat(60)}`.repeat(8)}b`;
    expect(matchesResource(pattern, 'a'.repeat(2048))).toBe(false);
    expect(matchesResource(pattern, `${'a'.repeat(2047)}b`)).toBe(true);
  });
});

describe('matchesUrl', () => {
  it.each([
    ['*', 'https://shop.example/a/b', true],
    ['https://shop.example/**', 'https://shop.example/a/b', true],
    ['https://shop.example/**', 'https://shop.example/', true],
    ['https://shop.example/*', 'https://shop.example/a/b', false],
    ['https://shop.example/**', 'http://shop.example/a', false],
    ['https://shop.example/**', 'https://shop.example:8443/a', false],
    ['https://shop.example/**', 'https://shop.example.evil.example/a', false],
    ['https://*.example/a', 'https://shop.example/a', true],
    ['https://**.example/a', 'https://a.b.example/a', true],
    ['https://*.example/a', 'https://evil.test/.example/a', false],
    ['https://**.example/a', 'https://evil.test/.example/a', false],
    ['https://**/admin', 'https://shop.example/admin', true],
    ['https://**/admin', 'https://shop.example/x/admin', false],
    ['https://**', 'https://shop.example/', true],
    ['https://**', 'https://shop.example/a', false],
    ['https://*', 'https://shop.example/', true],
    ['https://shop.example', 'https://shop.example/', true],
    ['https://shop.example', 'https://shop.example/a', false],
    ['https://shop.example*', 'https://shop.example/a', false],
    ['https://shop.example**', 'https://shop.example/a', false],
    ['https://', 'https://shop.example/', false],
    ['**', 'https://shop.example/', false],
    ['***', 'https://shop.example/', false],
    ['**/a', 'https://shop.example/a', false],
    ['*://shop.example/a', 'https://shop.example/a', false],
    ['**://shop.example/a', 'https://shop.example/a', false],
    ['http*://shop.example/a', 'https://shop.example/a', false],
    ['https:**', 'https://shop.example/a', false],
    ['https:/**', 'https://shop.example/a', false],
    ['https:/*/shop.example/a', 'https://shop.example/a', false],
    ['HTTPS://shop.example/a', 'https://shop.example/a', false],
    ['//shop.example/a', 'https://shop.example/a', false],
    ['shop.example/a', 'https://shop.example/a', false],
    ['https://shop.example/a?x=*', 'https://shop.example/a', false],
    ['https://u@*/a', 'https://shop.example/a', false],
  ])('matches %s against %s: %s', (pattern, url, expected) => {
    expect(matchesUrl(pattern, url)).toBe(expected);
  });

  const url = fc
    .tuple(
      fc.constantFrom('http', 'https'),
      fc.constantFrom('a', 'b', 'a.b', 'b:1'),
      fc.string({ unit: fc.constantFrom('a', 'b', '.', '/'), maxLength: 5 }),
    )
    .map(([scheme, authority, path]) => `${scheme}://${authority}/${path}`);
  const pattern = fc
    .tuple(
      fc.constantFrom('http://', 'https://', 'https://*/', 'https://**a', '**'),
      patternOf('a', 'b', '.', '/', ':1', '*', '**'),
    )
    .map((pieces) => pieces.join(''));

  it('matches only URLs that the pattern, read as one text, matches too', () => {
    /** Fixed examples, because few random ones match, and sometimes hardly any. */
    const MATCHING = ['a', 'b', 'a.b', 'b:1'].flatMap((authority) =>
      [`http://${authority}/a.b`, `http://${authority}/**`, 'http://**/a.b'].map(
        (granted): [string, string] => [granted, `http://${authority}/a.b`],
      ),
    );
    let matched = 0;
    fc.assert(
      fc.property(pattern, url, (granted, requested) => {
        if (granted === '*' || !matchesUrl(granted, requested)) return;
        matched++;
        const hasPath = granted.indexOf('/', granted.indexOf('://') + 3) >= 0;
        expect(matchesNaively(hasPath ? granted : `${granted}/`, requested)).toBe(true);
      }),
      { numRuns: sampled({ quick: 2_000, deep: 20_000 }), examples: MATCHING },
    );
    expect(matched).toBeGreaterThan(sampled({ quick: 10, deep: 100 }));
  });

  it('matches the host part of a pattern against the host only, never against the path', () => {
    fc.assert(
      fc.property(patternOf('a', 'b', '.', '*', '**'), url, (host, requested) => {
        const [, , authority = ''] = requested.split('/');
        const path = requested.slice(requested.indexOf('/', 'https://'.length));
        const scheme = requested.slice(0, requested.indexOf(':'));
        const expected = matchesNaively(host, authority);
        expect(matchesUrl(`${scheme}://${host}/**`, requested)).toBe(expected);
        expect(matchesUrl(`${scheme}://${host}`, requested)).toBe(expected && path === '/');
      }),
      { numRuns: sampled({ quick: 300, deep: 3_000 }) },
    );
  });
});

describe('a wildcard in a URL pattern', () => {
  const V1 = 'https://shop.example/v1/';

  /** Spellings in normal form that give the same character when decoded once or more often. */
  const spellings = (character: string): string[] => {
    const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
    const digits = [...hex].map((digit) => `%25${digit.charCodeAt(0).toString(16)}`).join('');
    return [
      `%${hex.toUpperCase()}`,
      `%25${hex}`,
      `%2525${hex.toUpperCase()}`,
      `%25252525${hex}`,
      `%25${digits}`,
    ];
  };

  it.each(['/', '\\', '\0', '\n', '\u007f'])(
    'does not match an escape of %j, however often it is escaped',
    (character) => {
      for (const hidden of spellings(character)) {
        for (const pattern of [
          `${V1}**`,
          `${V1}*`,
          `${V1}a*b`,
          `${V1}a**b`,
          `${V1}**b`,
          'https://shop.example/**',
        ])
          expect([pattern, hidden, matchesUrl(pattern, `${V1}a${hidden}b`)]).toEqual([
            pattern,
            hidden,
            false,
          ]);
        expect(matchesUrl(`${V1}*${hidden}*`, `${V1}a${hidden}b`)).toBe(true);
      }
    },
  );

  it('does not match a dot segment, however its dots, separators and parameters are escaped', () => {
    const dots = ['..', ...spellings('.').flatMap((dot) => [`.${dot}`, `${dot}.`, dot + dot, dot])];
    for (const name of dots)
      for (const end of [
        '%2F',
        '%255C',
        ';/',
        ';a=1/x',
        '%3B/',
        '%253bx/',
        '%3F',
        '%3Fx/',
        '%2523x',
        '%EF%BC%9F',
      ])
        for (const pattern of [`${V1}**`, `${V1}*${end}`, `${V1}*${end}**`])
          expect([pattern, name + end, matchesUrl(pattern, `${V1}${name}${end}`)]).toEqual([
            pattern,
            name + end,
            false,
          ]);
  });

  it.each([
    'a%20b',
    '%E4%B8%80',
    'a;b=..',
    '...;x',
    '..a;',
    'a..',
    '%25',
    '%2525',
    '%252',
    'a%252520b',
    '%3B',
    '%3F',
    'a%3F..',
    '...%3F',
    '..a%23',
    ';',
    ';..',
  ])('matches %s', (name) => {
    expect(matchesUrl(`${V1}**`, V1 + name)).toBe(true);
    expect(matchesUrl(`${V1}*`, V1 + name)).toBe(true);
  });

  it('does not match an escape in a host', () => {
    expect(matchesUrl('https://*.shop.example/**', 'https://evil.example%E2%84%80.shop.example/')).toBe(
      false,
    );
    expect(matchesUrl('https://sh%C3%B6p.*/**', 'https://sh%C3%B6p.example/')).toBe(true);
  });

  it('matches escaped separators and dots in the resource of a purchase, which is not a path', () => {
    expect(matchesResource('order/**', 'order/..%2Fx')).toBe(true);
  });

  it('decides the longest path of nested escapes', () => {
    const path = `%${'25'.repeat(1_000)}2F`;
    expect(matchesUrl('https://h/**', `https://h/${path}`)).toBe(false);
    expect(matchesUrl('https://h/**', `https://h/${path.slice(0, -2)}20`)).toBe(true);
  });
});
