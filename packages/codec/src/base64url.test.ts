import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { decodeBase64urlText, encodeBase64urlText, platformText, portableText } from './base64url-text.ts';
import { decodeUtf8 } from './utf8.ts';

describe('base64url', () => {
  it('decodes what it encodes, and encodes as Node does', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const text = encodeBase64url(bytes);
        expect(text).toBe(Buffer.from(bytes).toString('base64url'));
        expect(decodeBase64url(text)).toEqual(bytes);
      }),
    );
  });

  it('accepts exactly the texts that encode back to themselves', () => {
    const character = fc.constantFrom(...'ABCQZaghwxyz0189-_=+/ \n.é');
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 9 }), (text) => {
        const bytes = Buffer.from(text, 'base64url');
        const expected = bytes.toString('base64url') === text ? new Uint8Array(bytes) : null;
        expect(decodeBase64url(text)).toEqual(expected);
      }),
      { numRuns: sampled({ quick: 500, deep: 5_000 }) },
    );
  });

  it('accepts 256 pairs of characters, one for each byte', () => {
    const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];
    const accepted = alphabet
      .flatMap((a) => alphabet.map((b) => a + b))
      .filter((text) => decodeBase64url(text) !== null);
    expect(accepted).toHaveLength(256);
  });

  it.each([
    'A',
    'AAAAA',
    'AA==',
    'AAA=',
    'AB',
    'AAB',
    ' AAA',
    'AA\nAA',
    'A+AA',
    'A/AA',
    'AAé',
    'AA\u{1f602}',
    '\u0100AAA',
  ])('refuses %j', (text) => {
    expect(decodeBase64url(text)).toBeNull();
  });
});

it('encodeBase64urlText and decodeBase64urlText use Buffer on Node', () => {
  expect(platformText).not.toBeNull();
  expect([encodeBase64urlText, decodeBase64urlText]).toEqual([platformText?.encode, platformText?.decode]);
});

it.each([
  ['has no Buffer', undefined],
  ['has a Buffer without base64url', { isEncoding: () => false }],
])(
  'encodeBase64urlText and decodeBase64urlText use the portable code where the runtime %s',
  async (_, buffers) => {
    vi.resetModules();
    vi.stubGlobal('Buffer', buffers);
    try {
      const loaded = await import('./base64url-text.ts');
      expect(loaded.platformText).toBeNull();
      expect([loaded.encodeBase64urlText, loaded.decodeBase64urlText]).toEqual([
        loaded.portableText.encode,
        loaded.portableText.decode,
      ]);
    } finally {
      vi.unstubAllGlobals();
    }
  },
);

describe.each([
  ['portable', portableText],
  ['by Buffer', platformText ?? portableText],
])('text in base64url, %s', (_, { encode, decode }) => {
  it('is the base64url of its UTF-8 bytes, and is decoded to the same text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (text) => {
        fc.pre(!/\p{Surrogate}/u.test(text));
        const encoded = encodeBase64url(new TextEncoder().encode(text));
        expect(encode(text)).toBe(encoded);
        expect(decode(encoded)).toBe(text);
      }),
      { numRuns: sampled({ quick: 500, deep: 5_000 }) },
    );
  });

  it('is decoded exactly if the decoder of bytes accepts it and the bytes are UTF-8', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_\-+/= \n]{0,12}$/), (spelling) => {
        const bytes = decodeBase64url(spelling);
        const text = bytes === null ? null : decodeUtf8(bytes);
        expect(decode(spelling)).toBe(text);
      }),
      { numRuns: sampled({ quick: 2_000, deep: 20_000 }) },
    );
  });

  it.each([
    ['no bytes', '', ''],
    ['one byte', 'YQ', 'a'],
    ['a byte order mark, which is kept', '77u_YQ', '\ufeffa'],
    ['letters beyond ASCII', 'w6nwn5iC', 'é😂'],
    ['trailing bits that are not zero', 'YR', null],
    ['trailing bits that are not zero, of two bytes', 'YWJ', null],
    ['padding', 'YQ==', null],
    ['white space before', ' YQ', null],
    ['white space after', 'YQ\n', null],
    ['white space within', 'Y Q', null],
    ['one character too many', 'YWFhY', null],
    ['a dot', 'YWFh.YWFh', null],
    ['letters outside the alphabet', 'YWé', null],
    ['an overlong form', 'wIA', null],
    ['an encoded surrogate', '7aCA', null],
    ['a truncated sequence', '4pg', null],
  ])('is decoded, or refused, as stated for %s', (__, spelling, text) => {
    expect(decode(spelling)).toBe(text);
    if (text !== null) expect(encode(text)).toBe(spelling);
  });

  it('encodes a lone surrogate as U+FFFD', () => {
    expect(encode('\ud800')).toBe(encode('\ufffd'));
  });

  it('uses - and _ of its own alphabet, and refuses + and /', () => {
    expect(['xx>', 'xx?', 'xx~xx>'].map(encode)).toEqual(['eHg-', 'eHg_', 'eHh-eHg-']);
    expect(['eHg-', 'eHg_', 'eHh-eHg-', 'eHg+', 'eHg/'].map(decode)).toEqual([
      ...['xx>', 'xx?', 'xx~xx>'],
      ...[null, null],
    ]);
  });
});
