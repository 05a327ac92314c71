import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64url, decodeBase64urlText, encodeBase64url, encodeBase64urlText } from './base64url.ts';
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

  it('has one spelling for each pair of trailing characters', () => {
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

describe('text in base64url', () => {
  it('is what the bytes of its UTF-8 form give, both ways, for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (text) => {
        fc.pre(!/\p{Surrogate}/u.test(text));
        const encoded = encodeBase64url(new TextEncoder().encode(text));
        expect(encodeBase64urlText(text)).toBe(encoded);
        expect(decodeBase64urlText(encoded)).toBe(text);
      }),
      { numRuns: sampled({ quick: 500, deep: 5_000 }) },
    );
  });

  it('decodes exactly the spellings that the decoder of bytes accepts', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_\-+/= \n]{0,12}$/), (spelling) => {
        const bytes = decodeBase64url(spelling);
        const text = bytes === null ? null : decodeUtf8(bytes);
        expect(decodeBase64urlText(spelling)).toBe(text);
      }),
      { numRuns: sampled({ quick: 2_000, deep: 20_000 }) },
    );
  });

  it('has the two characters of its own alphabet where ASCII needs them', () => {
    expect(['xx>', 'xx?', 'xx~xx>'].map(encodeBase64urlText)).toEqual(['eHg-', 'eHg_', 'eHh-eHg-']);
    expect(['eHg-', 'eHg_', 'eHh-eHg-', 'eHg+', 'eHg/'].map(decodeBase64urlText)).toEqual([
      ...['xx>', 'xx?', 'xx~xx>'],
      ...[null, null],
    ]);
  });
});
