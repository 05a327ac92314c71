import { generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { KeySetError, parseKeySet } from './key-set.ts';

const DID = 'did:web:svc.example';

const newJwk = (kid: string) => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { jwk: { ...privateKey.export({ format: 'jwk' }), kid } as Record<string, string>, publicKey };
};

describe('a key set', () => {
  it('signs with its first key and publishes all keys, including retired ones without a private part', () => {
    const active = newJwk('receipt-2');
    const { d: _, ...retired } = newJwk('receipt-1').jwk;
    const keys = parseKeySet({ keys: [active.jwk, retired] }, 'receipt', DID);
    const message = Buffer.from('message');
    expect(keys.signer.kid).toBe(`${DID}#receipt-2`);
    expect(verify(null, message, active.publicKey, keys.signer.sign(message) as Uint8Array)).toBe(true);
    expect(keys.published.map(({ kid }) => kid)).toEqual([`${DID}#receipt-2`, `${DID}#receipt-1`]);
  });

  const pair = newJwk('receipt-1').jwk;
  const other = newJwk('receipt-1').jwk;
  const small = {
    kty: 'OKP',
    crv: 'Ed25519',
    kid: 'receipt-2',
    x: Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]).toString('base64url'),
  };
  it.each([
    ['is not a JWK set', [], /JWK set/],
    ['holds no key', { keys: [] }, /no key/],
    ['holds a key of another kind', { keys: [{ ...pair, crv: 'X25519' }] }, /Ed25519/],
    ['uses a kid twice', { keys: [pair, pair] }, /twice/],
    ['names a key for another purpose', { keys: [{ ...pair, kid: 'status-1' }] }, /receipt-<n>/],
    ['lacks the active private part', { keys: [{ ...pair, d: undefined }] }, /private part/],
    ['pairs d with a foreign x', { keys: [{ ...pair, x: other.x }] }, /pair/],
    ['publishes a small-order key', { keys: [pair, small] }, /strict/],
  ])('is refused at start if it %s', (_, json, message) => {
    expect(() => parseKeySet(json, 'receipt', DID)).toThrow(KeySetError);
    expect(() => parseKeySet(json, 'receipt', DID)).toThrow(message);
  });

  it('shows no key material in a refusal', () => {
    const broken = { keys: [{ ...pair, x: other.x }] };
    try {
      parseKeySet(broken, 'receipt', DID);
    } catch (error) {
      expect(String(error)).not.toContain(pair.d);
      expect(JSON.stringify(error)).not.toContain(pair.d);
      return;
    }
    expect.unreachable();
  });
});
