import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64url, encodeBase64url } from './base64url.ts';

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
      { numRuns: 5_000 },
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
