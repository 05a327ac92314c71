import { generateKeyPairSync, sign } from 'node:crypto';
import { sampled } from '@svc/testkit/sampled';
import { readThirdPartyJson } from '@svc/vectors/src/third-party.ts';
import fc from 'fast-check';
import { CompactSign, compactVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { didOfKid, kidOfJws, parseCompactJws, type Signer, signCompactJws } from './compact-jws.ts';
import { portableCrypto } from './crypto.ts';
import { nativeCrypto } from './native.ts';
import { encodeUtf8 } from './utf8.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const rawPublicKey = decodeBase64url(publicKey.export({ format: 'jwk' }).x ?? '') ?? new Uint8Array();
const signer: Signer = {
  kid: 'did:web:acme.example#key-1',
  sign: (bytes) => new Uint8Array(sign(null, bytes, privateKey)),
};
const MAX_CHARS = 16_384;
const part = (text: string): string => encodeBase64url(encodeUtf8(text));
const problemOf = (token: string, maxChars = MAX_CHARS): string => {
  const parsed = parseCompactJws(token, maxChars);
  return parsed.ok ? 'none' : parsed.problem;
};

describe('signCompactJws', () => {
  it('gives identical bytes in JCS form for any order of members', async () => {
    const token = await signCompactJws(signer, { typ: 'vc+jwt' }, { b: 1, a: [true] });
    expect(await signCompactJws(signer, { typ: 'vc+jwt' }, { a: [true], b: 1 })).toBe(token);
    expect(await signCompactJws(signer, { typ: 'vc+jwt' }, '{"a":[true],"b":1}')).toBe(token);
    const [header = '', payload = ''] = token.split('.');
    expect(Buffer.from(header, 'base64url').toString()).toBe(
      '{"alg":"EdDSA","kid":"did:web:acme.example#key-1","typ":"vc+jwt"}',
    );
    expect(Buffer.from(payload, 'base64url').toString()).toBe('{"a":[true],"b":1}');
  });

  it('writes the kid and typ of the call into the header, whatever was signed before', async () => {
    const pairs = [
      ['a', 'bc'],
      ['ab', 'c'],
      ['a', 'c'],
      ['1 a', 'b'],
    ] as const;
    for (const [typ, kid] of [...pairs, ...pairs]) {
      const token = await signCompactJws({ ...signer, kid }, { typ }, {});
      expect(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())).toEqual({
        alg: 'EdDSA',
        kid,
        typ,
      });
    }
  });

  it('gives a JWS that jose and both crypto ports verify', async () => {
    const token = await signCompactJws(signer, { typ: 'vc+jwt' }, { name: 'Straße 😂' });
    const { payload, protectedHeader } = await compactVerify(token, publicKey);
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual({ name: 'Straße 😂' });
    expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: signer.kid, typ: 'vc+jwt' });
    const parsed = parseCompactJws(token, MAX_CHARS);
    if (!parsed.ok) throw new Error(parsed.problem);
    expect(parsed.payload).toEqual({ name: 'Straße 😂' });
    for (const port of [portableCrypto, nativeCrypto]) {
      expect(port.verify(rawPublicKey, parsed.signingInput, parsed.signature)).toBe(true);
      expect(port.verify(rawPublicKey, `${parsed.signingInput}A`, parsed.signature)).toBe(false);
    }
  });

  it('rejects if the signer fails or returns a signature of the wrong length', async () => {
    const short: Signer = { kid: 'k', sign: () => new Uint8Array(63) };
    const failing: Signer = { kid: 'k', sign: () => Promise.reject(new Error('key service is down')) };
    await expect(signCompactJws(short, { typ: 't' }, {})).rejects.toThrow(RangeError);
    await expect(signCompactJws(failing, { typ: 't' }, {})).rejects.toThrow('key service is down');
  });
});

describe('parseCompactJws', () => {
  const token = `${part('{"alg":"EdDSA"}')}.${part('{"a":1}')}.${encodeBase64url(new Uint8Array(64))}`;

  it('reads a JWS that jose signed', async () => {
    const signed = await new CompactSign(encodeUtf8('{"a":1}'))
      .setProtectedHeader({ alg: 'EdDSA' })
      .sign(privateKey);
    const parsed = parseCompactJws(signed, MAX_CHARS);
    expect(parsed).toMatchObject({ ok: true, header: { alg: 'EdDSA' }, payload: { a: 1 } });
    expect(parsed.ok && nativeCrypto.verify(rawPublicKey, parsed.signingInput, parsed.signature)).toBe(true);
  });

  it('refuses a text longer than the given limit', () => {
    expect(problemOf(token, token.length)).toBe('none');
    expect(problemOf(token, token.length - 1)).toBe(`longer than ${token.length - 1} characters`);
  });

  it.each([
    ['', 'not three parts'],
    ['e30', 'not three parts'],
    ['e30.e30', 'not three parts'],
    [`${token}.`, 'payload: not canonical base64url'],
    [`.${token}`, 'header: unexpected end'],
    ['..', 'header: unexpected end'],
    ['e30..', 'payload: unexpected end'],
    ['e30=.e30.', 'header: not canonical base64url'],
    ['e30.e31.', 'payload: not canonical base64url'],
    ['e30.e30.AB', 'signature: not canonical base64url'],
    ['e30.e30.AA ', 'signature: not canonical base64url'],
    [`e30.e30\n.AA`, 'payload: not canonical base64url'],
    [`${encodeBase64url(new Uint8Array([0xff]))}.e30.`, 'header: not UTF-8'],
    [`${part('\ufeff{}')}.e30.`, 'header: byte order mark'],
    [`${part('[]')}.e30.`, 'header: not an object'],
    [`${part('null')}.e30.`, 'header: not an object'],
    [`e30.${part('"text"')}.`, 'payload: not an object'],
    [`${part('{"alg":"none","alg":"EdDSA"}')}.e30.`, 'header: duplicate member'],
    [`e30.${part('{"a":1.5}')}.`, 'payload: number not an integer'],
  ])('refuses %j: %s', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  it('gives another signed text or signature, or refuses, after any one character is changed, added or dropped', () => {
    const original = parseCompactJws(token, MAX_CHARS);
    const character = fc.constantFrom(...'AQgwBZaz09-_=.+/ \n\u0000é');
    fc.assert(
      fc.property(fc.nat(token.length), fc.nat(1), character, (at, dropped, inserted) => {
        const text = token.slice(0, at) + inserted + token.slice(at + dropped);
        fc.pre(text !== token);
        const parsed = parseCompactJws(text, MAX_CHARS);
        expect(parsed).not.toEqual(original);
        const bytesOf = (result: typeof parsed): unknown =>
          result.ok && [result.signingInput, ...result.signature];
        expect(bytesOf(parsed)).not.toEqual(bytesOf(original));
      }),
      { numRuns: sampled({ quick: 300, deep: 2_000 }) },
    );
  });
});

describe('the JWS of RFC 8037 A.4', () => {
  it('verifies under the key of A.2, but parseCompactJws refuses it because its payload is not JSON', () => {
    const { jwk, jws } = readThirdPartyJson<{ jwk: { x: string }; jws: string }>(
      'rfc/rfc8037-appendix-a.json',
    );
    const key = decodeBase64url(jwk.x) ?? new Uint8Array();
    const end = jws.lastIndexOf('.');
    const signature = decodeBase64url(jws.slice(end + 1)) ?? new Uint8Array();
    for (const port of [portableCrypto, nativeCrypto])
      expect(port.verify(key, jws.slice(0, end), signature)).toBe(true);
    expect(problemOf(jws)).toMatch(/^payload: /);
  });
});

describe('kidOfJws', () => {
  it('returns the kid in the header, and didOfKid returns its DID', async () => {
    const kid = kidOfJws(await signCompactJws(signer, { typ: 'vc+jwt' }, { a: 1 }), MAX_CHARS);
    expect(kid).toBe(signer.kid);
    expect(didOfKid(kid ?? '')).toBe('did:web:acme.example');
    expect(didOfKid('did:web:acme.example')).toBe('did:web:acme.example');
  });

  it('returns null if there is no kid, or if the text is not a well-formed JWS', async () => {
    const token = await signCompactJws(signer, { typ: 'vc+jwt' }, { a: 1 });
    const [, payload = '', signature = ''] = token.split('.');
    const without = [part('{"alg":"EdDSA"}'), payload, signature].join('.');
    const number = [part('{"alg":"EdDSA","kid":7}'), payload, signature].join('.');
    for (const text of [without, number, token.slice(0, token.lastIndexOf('.')), `${token}=`, '', 'x'])
      expect(kidOfJws(text, MAX_CHARS)).toBeNull();
    expect(kidOfJws(token, token.length - 1)).toBeNull();
  });
});
