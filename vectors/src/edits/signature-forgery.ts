/**
 * Signatures by the published test keys that satisfy the bare equation [S]B = R + [k]A but that strict Ed25519 refuses
 * (protocol §1): with an R of small order, and by a key with a torsion component.
 */
import { createHash } from 'node:crypto';
import { encodeBase64url, encodeUtf8 } from '@svc/protocol';
import type { TokenDraft } from '../scene.ts';
import { type TestKey, testKey } from '../test-keys.ts';

const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const mod = (n: bigint): bigint => ((n % P) + P) % P;

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n;
  for (let square = mod(base), rest = exponent; rest > 0n; rest >>= 1n, square = mod(square * square))
    if (rest & 1n) result = mod(result * square);
  return result;
};
const inverse = (n: bigint): bigint => power(n, P - 2n);
const D = mod(-121665n * inverse(121666n));

const integerOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
const bytesOf = (n: bigint): Uint8Array =>
  new Uint8Array(Buffer.from(n.toString(16).padStart(64, '0'), 'hex').reverse());

type Point = readonly [x: bigint, y: bigint];

/** Decodes a point (RFC 8032 §5.1.3). */
const decode = (bytes: Uint8Array): Point => {
  const whole = integerOf(bytes);
  const y = whole & (2n ** 255n - 1n);
  const square = mod((y * y - 1n) * inverse(D * y * y + 1n));
  const root = power(square, (P + 3n) / 8n);
  const x = mod(root * root) === square ? root : mod(root * power(2n, (P - 1n) / 4n));
  return [(x & 1n) === whole >> 255n ? x : mod(-x), y];
};
const encode = ([x, y]: Point): Uint8Array => bytesOf(y | ((x & 1n) << 255n));

const add = ([x1, y1]: Point, [x2, y2]: Point): Point => {
  const product = mod(D * mod(x1 * x2) * mod(y1 * y2));
  return [mod((x1 * y2 + x2 * y1) * inverse(1n + product)), mod((y1 * y2 + x1 * x2) * inverse(1n - product))];
};

const ORDER_8 = decode(
  new Uint8Array(Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 'hex')),
);

/** The scalar of a seed (RFC 8032 §5.1.5). */
const scalarOf = ({ seed }: TestKey): bigint => {
  const bytes = createHash('sha512').update(seed).digest().subarray(0, 32);
  return (integerOf(bytes) & (2n ** 255n - 8n)) | (2n ** 254n);
};

const challenge = (r: Uint8Array, publicKey: Uint8Array, text: string): bigint =>
  integerOf(createHash('sha512').update(r).update(publicKey).update(encodeUtf8(text)).digest()) % L;

const resign = (draft: TokenDraft, sign: (text: string) => Uint8Array): void => {
  draft.editToken = (token) => {
    const text = token.slice(0, token.lastIndexOf('.'));
    return `${text}.${encodeBase64url(sign(text))}`;
  };
};

/** R is the neutral element, in its canonical or another encoding: then S = k·a satisfies the equation. */
export const NEUTRAL_R = new Uint8Array(Buffer.from(`01${'00'.repeat(31)}`, 'hex'));
export const NEUTRAL_R_NOT_CANONICAL = new Uint8Array(Buffer.from(`ee${'ff'.repeat(30)}7f`, 'hex'));

export const signWithR = (draft: TokenDraft, r: Uint8Array): void =>
  resign(draft, (text) => {
    const s = (challenge(r, draft.key.publicKey, text) * scalarOf(draft.key)) % L;
    return Uint8Array.of(...r, ...bytesOf(s));
  });

/** The key plus a point of order 8: a point of order 8L. */
export const withTorsion = ({ publicKey }: TestKey): Uint8Array => encode(add(decode(publicKey), ORDER_8));

/** Signs for that key: if k is a multiple of 8, the torsion component drops out of the equation. */
export const signWithTorsion = (draft: TokenDraft): void => {
  const publicKey = withTorsion(draft.key);
  resign(draft, (text) => {
    for (let i = 0; i < 1000; i++) {
      const nonce = testKey(`nonce ${i}`);
      const k = challenge(nonce.publicKey, publicKey, text);
      if (k % 8n !== 0n) continue;
      return Uint8Array.of(...nonce.publicKey, ...bytesOf((scalarOf(nonce) + k * scalarOf(draft.key)) % L));
    }
    throw new Error('no signature found');
  });
};
