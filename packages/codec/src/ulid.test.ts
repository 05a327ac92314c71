import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeUlid, ULID_PATTERN, ulidTimeMs } from './ulid.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const MAX_TIME_MS = 2 ** 48 - 1;
const time = fc.integer({ min: 0, max: MAX_TIME_MS });
const random = fc.uint8Array({ minLength: 10, maxLength: 10 });
const base32 = (text: string): bigint =>
  [...text].reduce((n, c) => n * 32n + BigInt(ALPHABET.indexOf(c)), 0n);

describe('a ULID', () => {
  it('is the 128-bit number of time and randomness in base 32', () => {
    fc.assert(
      fc.property(time, random, (timeMs, bytes) => {
        const ulid = encodeUlid(timeMs, bytes);
        const expected = (BigInt(timeMs) << 80n) | BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
        expect(base32(ulid)).toBe(expected);
        expect(ulid).toMatch(new RegExp(`^${ULID_PATTERN}$`));
        expect(ulidTimeMs(ulid)).toBe(timeMs);
      }),
    );
  });

  it('sorts by its time', () => {
    fc.assert(
      fc.property(time, time, random, random, (a, b, x, y) => {
        fc.pre(a < b);
        expect(encodeUlid(a, x) < encodeUlid(b, y)).toBe(true);
      }),
    );
  });

  it('has the published form for a known time', () => {
    expect(encodeUlid(1_469_918_176_385, new Uint8Array(10))).toBe('01ARYZ6S410000000000000000');
    expect(ulidTimeMs('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')).toBe(MAX_TIME_MS);
  });

  it.each([
    '',
    '01ARYZ6S41000000000000000',
    '01ARYZ6S4100000000000000000',
    '81ARYZ6S410000000000000000',
    '01aryz6s410000000000000000',
    '01ARYZ6S41000000000000000I',
    '01ARYZ6S41000000000000000U',
    '01ARYZ6S410000000000000000\n',
  ])('is refused by ulidTimeMs: %j', (text) => {
    expect(ulidTimeMs(text)).toBeNull();
  });

  it('is not made of a time or randomness out of range', () => {
    for (const timeMs of [-1, MAX_TIME_MS + 1, 0.5, Number.NaN]) {
      expect(() => encodeUlid(timeMs, new Uint8Array(10))).toThrow(RangeError);
    }
    expect(() => encodeUlid(0, new Uint8Array(9))).toThrow(RangeError);
  });
});
