import { describe, expect, it } from 'vitest';
import type { Failure } from '../failure.ts';
import { RECEIPT_JWS_MAX_CHARS } from '../receipt.ts';
import { readKid, readPayload, splitReceiptJws } from './receipt-jws.ts';

const encode = (text: string): string => Buffer.from(text).toString('base64url');

describe('the JWS of a Receipt', () => {
  it('has at most RECEIPT_JWS_MAX_CHARS characters', () => {
    const longest = '.AAAA.AAAA'.padStart(RECEIPT_JWS_MAX_CHARS, 'A');
    expect(splitReceiptJws(longest)).toMatchObject({ payloadText: '\0\0\0' });
    expect(splitReceiptJws(`A${longest}`)).toBeNull();
  });

  it.each(['', 'a', 'ab', 'abc', 'é', 'aé', '\u{1f600}', '>>>???', '\x7f\x80'])(
    'is decoded as UTF-8 with %j in any part',
    (text) => {
      expect(splitReceiptJws(`${encode(text)}.${encode('b')}.AA`)).toMatchObject({ headerText: text });
      expect(splitReceiptJws(`${encode('b')}.${encode(text)}.AA`)).toMatchObject({ payloadText: text });
      const { signature } = splitReceiptJws(`AA.AA.${encode(text)}`) ?? {};
      expect(signature).toEqual(new TextEncoder().encode(text));
    },
  );

  it.each([
    ['padding', 'YQ=='],
    ['trailing bits', 'YR'],
    ['a trailing character', 'YWJjZ'],
    ['white space', 'YW\nJj'],
    ['the alphabet of base64', 'Pj4+Pz8/'],
    ['a character outside base64url', '!'],
    ['no UTF-8', '_w'],
  ])('is refused with %s in any part', (what, part) => {
    expect(splitReceiptJws(`${part}.AA.AA`)).toBeNull();
    expect(splitReceiptJws(`AA.${part}.AA`)).toBeNull();
    if (what !== 'no UTF-8') expect(splitReceiptJws(`AA.AA.${part}`)).toBeNull();
  });

  it.each(['', 'x', '{', 'null', '[]', '{}', '{"kid":7}', '{"alg":"EdDSA","typ":"svc-receipt+jwt"}'])(
    'is refused with wrong-header if its header is %j',
    (header) => {
      const failures: Failure[] = [];
      expect(readKid(header, failures)).toBeNull();
      expect(failures.map(({ code, path }) => [code, path])).toEqual([['wrong-header', '/receipt']]);
    },
  );

  it.each(['null', '7', '[]', '""', '', '{', '{"b":1,"a":1}', '{"a":1} '])(
    'is refused with payload-not-canonical if its payload is %j',
    (payload) => {
      const failures: Failure[] = [];
      expect(readPayload(payload, failures)).toBeNull();
      expect(failures.map(({ code, path }) => [code, path])).toEqual([['payload-not-canonical', '/receipt']]);
    },
  );
});
