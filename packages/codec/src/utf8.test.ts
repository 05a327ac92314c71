import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeUtf8, encodeUtf8 } from './utf8.ts';

describe('decodeUtf8', () => {
  it('returns the text that encodeUtf8 encoded', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => decodeUtf8(encodeUtf8(text)) === text));
  });

  it('keeps a byte order mark as a character', () => {
    expect(decodeUtf8(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).toBe('\ufeffa');
  });

  it.each([
    ['overlong slash', [0xc0, 0xaf]],
    ['encoded surrogate', [0xed, 0xa0, 0x80]],
    ['truncated sequence', [0xe2, 0x82]],
    ['stray continuation', [0x80]],
    ['above U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
  ])('refuses malformed bytes: %s', (_, bytes) => {
    expect(decodeUtf8(new Uint8Array(bytes))).toBeNull();
  });
});
