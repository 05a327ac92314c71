/**
 * Ed25519 keys under which one constant signature (R = B, S = 1) satisfies [S]B = R + [k]A. If A is the identity, it
 * always does; for the other orders it does if k is a multiple of the order. A forger reaches that by trying values of
 * a member that no check reads.
 */
import { createHash } from 'node:crypto';
import { encodeBase64url, encodeUtf8 } from '@svc/protocol';
import type { TokenDraft } from '../scene.ts';

export interface WeakKey {
  readonly id: string;
  readonly description: string;
  readonly publicKey: Uint8Array;
}

const weak = (id: string, description: string, hex: string): WeakKey => ({
  id,
  description,
  publicKey: new Uint8Array(Buffer.from(hex, 'hex')),
});

/** One key of each order, and one with a non-canonical encoding. The first is the identity. */
export const WEAK_KEYS: readonly WeakKey[] = [
  weak('order-1', 'a key of order 1', `01${'00'.repeat(31)}`),
  weak('order-2', 'a key of order 2', `ec${'ff'.repeat(30)}7f`),
  weak('order-4', 'a key of order 4', '00'.repeat(32)),
  weak('order-8', 'a key of order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'),
  weak('not-canonical', 'the identity encoded as y = p + 1', `ee${'ff'.repeat(30)}7f`),
];

/** The other encodings that decode to a point whose order divides 8, for tests. */
export const MORE_WEAK_KEYS: readonly WeakKey[] = [
  weak('order-4-sign', 'order 4, sign bit set', `${'00'.repeat(31)}80`),
  weak(
    'order-8-sign',
    'order 8, sign bit set',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  ),
  weak(
    'order-8-b',
    'the other y of order 8',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ),
  weak(
    'order-8-b-sign',
    'its sign bit set',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ),
  weak('order-1-sign', 'the identity with a sign bit it cannot have', `01${'00'.repeat(30)}80`),
  weak('order-2-sign', 'order 2 with a sign bit it cannot have', `ec${'ff'.repeat(31)}`),
  weak('y-p', 'order 4 encoded as y = p', `ed${'ff'.repeat(30)}7f`),
  weak('y-p-sign', 'order 4 encoded as y = p, sign bit set', `ed${'ff'.repeat(31)}`),
  weak('y-p-1-sign', 'the identity encoded as y = p + 1, sign bit set', `ee${'ff'.repeat(31)}`),
];

/** R is the base point, S is 1. */
export const FORGED_SIGNATURE: Uint8Array = new Uint8Array(
  Buffer.from(`58${'66'.repeat(31)}01${'00'.repeat(31)}`, 'hex'),
);

const L = 2n ** 252n + 27742317777372353535851937790883648493n;

/** k = SHA-512(R ‖ A ‖ M) mod L of the equation. */
const challenge = (publicKey: Uint8Array, message: Uint8Array): bigint => {
  const digest = createHash('sha512')
    .update(FORGED_SIGNATURE.subarray(0, 32))
    .update(publicKey)
    .update(message);
  return BigInt(`0x${Buffer.from(digest.digest()).reverse().toString('hex')}`) % L;
};

/** Whether the constant signature satisfies the equation for any key whose order divides 8. */
const isForgeable = (publicKey: Uint8Array, signingInput: string): boolean =>
  challenge(publicKey, encodeUtf8(signingInput)) % 8n === 0n;

/** Gives the draft the constant signature, over a payload for which it satisfies the equation. */
export const withForgedSignature = (draft: TokenDraft, publicKey: Uint8Array): void => {
  draft.editToken = (token) => {
    const [header = '', payload = ''] = token.split('.');
    const json = Buffer.from(payload, 'base64url').toString();
    // White space before the object has no meaning and may have any length.
    for (let spaces = 0; spaces < 1000; spaces++) {
      const signingInput = `${header}.${encodeBase64url(encodeUtf8(' '.repeat(spaces) + json))}`;
      if (isForgeable(publicKey, signingInput)) return `${signingInput}.${encodeBase64url(FORGED_SIGNATURE)}`;
    }
    throw new Error('no forgery found');
  };
};
