import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readThirdPartyJson } from '@svc/vectors/src/third-party.ts';
import fc from 'fast-check';
import { base58btc } from 'multiformats/bases/base58';
import { describe, expect, it } from 'vitest';
import { decodeBase64url } from './base64url.ts';
import { decodeBase58Key, decodeMultikey, encodeMultikey, formatDidKey, parseDidKey } from './did-key.ts';

const PKCS8_PREFIX = '302e020100300506032b657004220420';
const example = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
const multikey = example.slice('did:key:'.length);

const publicKeyOfSeed = (seedHex: string): Uint8Array | null => {
  const key = createPrivateKey({
    key: Buffer.from(PKCS8_PREFIX + seedHex, 'hex'),
    format: 'der',
    type: 'pkcs8',
  });
  return decodeBase64url(createPublicKey(key).export({ format: 'jwk' }).x ?? '');
};

describe('did:key', () => {
  it('is formatted from and parsed to the key of every published seed', () => {
    const vectors = readThirdPartyJson<Record<string, { seed: string }>>('did-key/ed25519-x25519.json');
    expect(Object.keys(vectors).length).toBeGreaterThan(0);
    for (const [did, { seed }] of Object.entries(vectors)) {
      const publicKey = publicKeyOfSeed(seed);
      expect(parseDidKey(did)).toEqual({ did, publicKey });
      expect(publicKey && formatDidKey(publicKey)).toBe(did);
    }
  });

  it('is parsed to the 32 bytes that were formatted', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (publicKey) => {
        const did = formatDidKey(publicKey);
        expect(did).toMatch(/^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}$/);
        expect(parseDidKey(did)?.publicKey).toEqual(publicKey);
      }),
    );
  });

  it('is parsed in one spelling only: with a character more, less or different it is refused or names another key', () => {
    const character = fc.constantFrom(...'123ABCxyzZ0OIl# \t\n%.\u00a0\u0131\uff11');
    const edit = fc.record({
      at: fc.nat(56),
      removed: fc.nat(1),
      inserted: fc.string({ unit: character, maxLength: 2 }),
    });
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        edit,
        (publicKey, { at, removed, inserted }) => {
          const did = formatDidKey(publicKey);
          const text = did.slice(0, at) + inserted + did.slice(at + removed);
          const parsed = parseDidKey(text);
          if (parsed === null) return;
          expect([parsed.did, formatDidKey(parsed.publicKey)]).toEqual([text, text]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is parsed to a new copy of the key bytes in each call', () => {
    const right = formatDidKey(new Uint8Array(32).fill(7));
    for (let i = 0; i < 3; i++) {
      const parsed = parseDidKey(right);
      expect(parsed).toEqual({ did: right, publicKey: new Uint8Array(32).fill(7) });
      parsed?.publicKey.fill(0);
    }
  });

  it('is accepted as a multikey only in the form that encodeMultikey gives', () => {
    fc.assert(
      fc.property(fc.nat(47), fc.constantFrom(...'1zZ0OIl9A# '), (position, character) => {
        const text = multikey.slice(0, position) + character + multikey.slice(position + 1);
        const publicKey = decodeMultikey(text);
        if (publicKey !== null) expect(encodeMultikey(publicKey)).toBe(text);
      }),
    );
  });

  it.each([
    '',
    'did:key:',
    'did:key:z6Mk',
    multikey,
    `${example}#${multikey}`,
    `${example} `,
    ` ${example}`,
    `${example}\n`,
    `${example}1`,
    example.slice(0, -1),
    example.toUpperCase(),
    example.replace('did:', 'DID:'),
    example.replace(':z6', ':6'),
    example.replace(':z6', ':z16'),
    // The decoder of multiformats takes a character above U+00FF for a digit.
    'did:key:z6MkeTG3bFFSLYVU7VqhgZxqr6YzpaGrQtFMjm\u01312rtV6Rp7y',
    'did:key:z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc',
    `did:key:${base58btc.encode(new Uint8Array([0xed, 0x01]))}`,
    `did:key:${base58btc.encode(new Uint8Array(35).fill(7))}`,
    'did:web:example.com',
  ])('refuses %j', (text) => {
    expect(parseDidKey(text)).toBeNull();
  });

  it('is not formatted from 31 bytes', () => {
    expect(() => formatDidKey(new Uint8Array(31))).toThrow(RangeError);
  });
});

describe('a key in base58', () => {
  it('is accepted by decodeBase58Key in one form only', () => {
    for (const key of [
      new Uint8Array(32),
      new Uint8Array(32).fill(255),
      Uint8Array.from({ length: 32 }, (_, i) => i),
    ]) {
      const text = base58btc.encode(key).slice(1);
      expect(decodeBase58Key(text)).toEqual(key);
      for (const other of [`1${text}`, `z${text}`, ` ${text}`, `${text} `, `${text}0`, `${text}l`])
        expect(decodeBase58Key(other)).not.toEqual(key);
      for (const other of [`1${text}`, ` ${text}`, `${text} `, `${text}0`, `${text}l`])
        expect(decodeBase58Key(other)).toBeNull();
    }
    expect(decodeBase58Key('')).toBeNull();
    expect(decodeBase58Key('\u0131'.repeat(32))).toBeNull();
  });

  it('is refused by decodeMultikey with any other prefix than that of Ed25519', () => {
    const key = decodeMultikey(multikey) ?? new Uint8Array();
    const withPrefix = (...prefix: number[]) => base58btc.encode(Uint8Array.from([...prefix, ...key]));
    expect(withPrefix(0xed, 0x01)).toBe(multikey);
    const others = [
      withPrefix(0xed, 0x02),
      withPrefix(0xec, 0x01),
      withPrefix(0xed),
      withPrefix(0xed, 0x01, 0x01),
    ];
    expect(others.map(decodeMultikey)).toEqual([null, null, null, null]);
  });
});
