import { gunzipSync, gzipSync } from 'node:zlib';
import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBitstring, getBit, MIN_ENTRIES, setBit } from './bitstring.ts';
import { decodeBitstring, encodeBitstring } from './encoded-list.ts';
import { crc32 } from './gzip.ts';

/** The lists of the examples in Bitstring Status List 1.0: 131,072 entries, none set. */
const SPEC_EMPTY_LIST = 'uH4sIAAAAAAAAA-3BMQEAAADCoPVPbQwfoAAAAAAAAAAAAAAAAAAAAIC3AYbSVKsAQAAA';
const LIST_BYTES = MIN_ENTRIES / 8;

const encode = (member: Uint8Array): string => `u${Buffer.from(member).toString('base64url')}`;
const memberOf = (text: string): Buffer => Buffer.from(text.slice(1), 'base64url');
/** For comparison as text, which is much faster than a deep equality of 16,384 numbers. */
const base64 = (bits: Uint8Array | null): string | null => bits && Buffer.from(bits).toString('base64');
const indexes = fc.uniqueArray(fc.nat(MIN_ENTRIES - 1), { maxLength: 200 });
const bitsOf = (set: readonly number[]): Uint8Array => {
  const bits = createBitstring();
  for (const index of set) setBit(bits, index);
  return bits;
};

describe('a bitstring', () => {
  it('has entry 0 in the left-most bit of the first byte', () => {
    expect([...bitsOf([0, 7, 9]).subarray(0, 3)]).toEqual([0b1000_0001, 0b0100_0000, 0]);
  });

  it('returns each entry as it was written, and writing one entry changes no other', () => {
    fc.assert(
      fc.property(indexes, fc.nat(MIN_ENTRIES - 1), fc.boolean(), (set, index, value) => {
        const bits = bitsOf(set);
        const before = bits.slice();
        setBit(bits, index, value);
        expect(getBit(bits, index)).toBe(value);
        setBit(bits, index, getBit(before, index));
        expect(base64(bits)).toBe(base64(before));
      }),
      { numRuns: sampled({ quick: 16, deep: 50 }) },
    );
  });

  it.each([-1, 0.5, Number.NaN, MIN_ENTRIES, 2 ** 32, 2 ** 53])(
    'has no entry %d: reading and writing it throw a RangeError',
    (index) => {
      expect(() => getBit(createBitstring(), index)).toThrow(RangeError);
      expect(() => setBit(createBitstring(), index)).toThrow(RangeError);
    },
  );

  it.each([0, 8, MIN_ENTRIES - 8, MIN_ENTRIES + 1, Number.NaN])(
    'cannot have %d entries: creating it throws a RangeError',
    (entries) => {
      expect(() => createBitstring(entries)).toThrow(RangeError);
    },
  );
});

describe('encodeBitstring', () => {
  it('is the inverse of decodeBitstring, and zlib decompresses the same bits', () => {
    fc.assert(
      fc.property(indexes, (set) => {
        const text = encodeBitstring(bitsOf(set));
        expect(base64(decodeBitstring(text))).toBe(base64(bitsOf(set)));
        expect(base64(gunzipSync(memberOf(text)))).toBe(base64(bitsOf(set)));
      }),
      { numRuns: sampled({ quick: 16, deep: 50 }) },
    );
  });

  it('encodes incompressible bits, which decode up to the size limit and are refused above it', () => {
    const bits = new Uint8Array(65_536 * 4).map((_, n) => Math.imul(n + 1, 2654435761) >>> 24);
    expect(base64(decodeBitstring(encodeBitstring(bits), bits.length))).toBe(base64(bits));
    expect(base64(decodeBitstring(encode(gzipSync(bits, { level: 0 })), bits.length))).toBe(base64(bits));
    expect(decodeBitstring(encodeBitstring(bits), bits.length - 1)).toBeNull();
  });

  it('is reproducible: the gzip time stamp is zero and no name is written', () => {
    const text = encodeBitstring(createBitstring());
    expect(text).toBe(encodeBitstring(createBitstring()));
    expect([...memberOf(text).subarray(0, 10)]).toEqual([31, 139, 8, 0, 0, 0, 0, 0, 0, 3]);
  });

  it('throws a RangeError for a list below the minimum size', () => {
    expect(() => encodeBitstring(new Uint8Array(LIST_BYTES - 1))).toThrow(RangeError);
  });
});

describe('decodeBitstring', () => {
  it('reads the empty list of the specification', () => {
    expect(base64(decodeBitstring(SPEC_EMPTY_LIST))).toBe(base64(createBitstring()));
  });

  it('reads lists compressed by zlib at every level', () => {
    const bits = bitsOf([3, 94_567, MIN_ENTRIES - 1]);
    for (let level = 0; level <= 9; level++) {
      expect(base64(decodeBitstring(encode(gzipSync(bits, { level }))))).toBe(base64(bits));
    }
  });

  it.each([
    ['no multibase prefix', SPEC_EMPTY_LIST.slice(1)],
    ['another multibase prefix', `z${SPEC_EMPTY_LIST.slice(1)}`],
    ['nothing', ''],
    ['a bare prefix', 'u'],
    ['padding', `${SPEC_EMPTY_LIST}=`],
    ['white space', `${SPEC_EMPTY_LIST}\n`],
    ['the other alphabet', SPEC_EMPTY_LIST.replace('-', '+')],
    ['stray trailing bits', `${SPEC_EMPTY_LIST.slice(0, -1)}B`],
    ['a list below the minimum', encode(gzipSync(new Uint8Array(LIST_BYTES - 1)))],
    ['raw bits', encode(new Uint8Array(LIST_BYTES))],
  ])('refuses %s', (_, text) => {
    expect(decodeBitstring(text)).toBeNull();
  });

  it('refuses a second gzip member and any other bytes after the first, of any length', () => {
    const member = memberOf(SPEC_EMPTY_LIST);
    const tails = [member, gzipSync(''), ...Array.from({ length: 300 }, (_, n) => Buffer.alloc(n + 1, n))];
    for (const tail of tails) expect(decodeBitstring(encode(Buffer.concat([member, tail])))).toBeNull();
  });

  it('refuses bytes inserted between the compressed data and a correct trailer', () => {
    const member = memberOf(SPEC_EMPTY_LIST);
    const [data, trailer] = [member.subarray(0, -8), member.subarray(-8)];
    for (const filler of [Buffer.alloc(1), Buffer.alloc(8), trailer, member]) {
      expect(decodeBitstring(encode(Buffer.concat([data, filler, trailer])))).toBeNull();
    }
  });

  it('refuses every truncation', () => {
    const member = memberOf(encodeBitstring(bitsOf([1, 2, 70_000])));
    for (let length = 0; length < member.length; length++) {
      expect(decodeBitstring(encode(member.subarray(0, length)))).toBeNull();
    }
  });

  it('refuses a list with any byte changed, or gives the same bits as before', () => {
    const bits = bitsOf([1, 5, 70_000, 131_000]);
    const member = memberOf(encodeBitstring(bits));
    for (let at = 0; at < member.length; at++) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const changed = Buffer.from(member);
        changed.writeUInt8(changed.readUInt8(at) ^ flip, at);
        const decoded = decodeBitstring(encode(changed));
        // Bytes 4 to 9 of the header (time stamp, extra flags and operating system) are informative only.
        if (at >= 4 && at < 10) expect(base64(decoded)).toBe(base64(bits));
        else expect(decoded === null || Buffer.from(decoded).equals(bits)).toBe(true);
      }
    }
  });

  it('refuses arbitrary text and never throws', () => {
    const header = Uint8Array.of(31, 139, 8, 0, 0, 0, 0, 0, 0, 3);
    const bytes = fc.uint8Array({ maxLength: 600 }).map((tail) => encode(Buffer.concat([header, tail])));
    fc.assert(
      fc.property(fc.oneof(fc.string(), bytes), (text) => {
        expect(decodeBitstring(text)).toBeNull();
      }),
      { numRuns: sampled({ quick: 300, deep: 2_000 }) },
    );
  });

  it('refuses a gzip bomb without inflating it', () => {
    const bomb = encode(gzipSync(Buffer.alloc(256 * 1024 * 1024), { level: 1 }));
    const before = process.memoryUsage().arrayBuffers;
    expect(decodeBitstring(bomb)).toBeNull();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });

  it('stops at the size limit for a small gzip bomb within the text limit', () => {
    const bomb = encode(gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 }));
    expect(bomb.length).toBeLessThan(100_000);
    const before = process.memoryUsage().arrayBuffers;
    expect(decodeBitstring(bomb)).toBeNull();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });
});

describe('crc32', () => {
  it('gives the check value 0xcbf43926 of CRC-32 for "123456789"', () => {
    expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
  });
});
