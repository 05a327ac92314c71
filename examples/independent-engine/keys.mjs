// Strict Ed25519 (docs/protocol.md §1) and the names of keys. `node:crypto` checks the equation; OpenSSL does that
// without cofactor and on encodings. Whether a key or an R is acceptable is decided here, on the curve.
import { createPublicKey, verify } from 'node:crypto';

const p = 2n ** 255n - 19n;
const order = 2n ** 252n + 27742317777372353535851937790883648493n;
const mod = (n) => ((n % p) + p) % p;

function power(base, exponent) {
  let result = 1n;
  for (let square = mod(base), rest = exponent; rest > 0n; rest >>= 1n, square = (square * square) % p)
    if (rest & 1n) result = (result * square) % p;
  return result;
}

const d = mod(-121665n * power(121666n, p - 2n));
const rootOfMinusOne = power(2n, (p - 1n) / 4n);
const neutral = [0n, 1n, 1n, 0n];

/** Extended coordinates (RFC 8032 §5.1.4). */
function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const a = ((y1 - x1) * (y2 - x2)) % p;
  const b = ((y1 + x1) * (y2 + x2)) % p;
  const c = (2n * t1 * d * t2) % p;
  const e = (2n * z1 * z2) % p;
  return [mod((b - a) * (e - c)), mod((e + c) * (b + a)), mod((e - c) * (e + c)), mod((b - a) * (b + a))];
}

function times(scalar, point) {
  let result = neutral;
  for (let rest = scalar, doubled = point; rest > 0n; rest >>= 1n, doubled = add(doubled, doubled))
    if (rest & 1n) result = add(result, doubled);
  return result;
}

const isNeutral = ([x, y, z]) => x === 0n && y === z;
const littleEndian = (bytes) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);

/** The point that 32 bytes encode in the canonical way (RFC 8032 §5.1.3); null if there is none. */
function decode(bytes) {
  const whole = littleEndian(bytes);
  const sign = whole >> 255n;
  const y = whole & (2n ** 255n - 1n);
  if (y >= p) return null;
  const u = mod(y * y - 1n);
  const v = mod(d * y * y + 1n);
  let x = (u * v ** 3n * power(u * v ** 7n, (p - 5n) / 8n)) % p;
  if (mod(v * x * x) !== u) x = (x * rootOfMinusOne) % p;
  if (mod(v * x * x) !== u || (x === 0n && sign === 1n)) return null;
  if ((x & 1n) !== sign) x = mod(-x);
  return [x, y, 1n, (x * y) % p];
}

/** Every y of a point whose order divides 8: the multiples of one such point, which is found by trial. */
const yOfSmallOrder = (() => {
  for (let y = 2; ; y++) {
    const point = decode(Buffer.alloc(32).fill(y, 0, 1));
    const small = point && times(order, point);
    if (small === null || isNeutral(times(4n, small))) continue;
    return new Set([0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n].map((n) => affineY(times(n, small))));
  }
})();

function affineY([, y, z]) {
  return mod(y * power(z, p - 2n));
}

const known = new Map();

/**
 * A key object for 32 bytes that are a strict public key, otherwise null. Cached, because the check takes a
 * millisecond.
 */
export function strictKey(bytes) {
  const x = Buffer.from(bytes).toString('base64url');
  if (!known.has(x)) {
    if (known.size > 10_000) known.clear();
    known.set(
      x,
      isStrictKey(bytes) ? createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }) : null,
    );
  }
  return known.get(x);
}

function isStrictKey(bytes) {
  const point = bytes.length === 32 ? decode(bytes) : null;
  return point !== null && !isNeutral(times(8n, point)) && isNeutral(times(order, point));
}

/** Whether this is a strict signature by a key from `strictKey`. */
export function isSignedBy(key, text, signature) {
  if (signature.length !== 64) return false;
  const y = littleEndian(signature.subarray(0, 32)) & (2n ** 255n - 1n);
  if (y >= p || yOfSmallOrder.has(y) || littleEndian(signature.subarray(32)) >= order) return false;
  return verify(null, Buffer.from(text), key, signature);
}

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

const hexOfBase58 = (text) => {
  let number = 0n;
  for (const character of text) number = number * 58n + BigInt(base58.indexOf(character));
  return number.toString(16);
};

/** 32 bytes from bare base58 (each leading 1 is a zero byte); null for any other text. */
export function bytesOfBase58(text) {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return null;
  const hex = hexOfBase58(text);
  const bytes = hex === '0' ? 0 : Math.ceil(hex.length / 2);
  return /^1*/.exec(text)[0].length + bytes === 32 ? Buffer.from(hex.padStart(64, '0'), 'hex') : null;
}

/** The 32 bytes of an Ed25519 Multikey (`z6Mk…`); null for any other text. */
export function bytesOfMultikey(text) {
  if (!/^z6Mk[1-9A-HJ-NP-Za-km-z]{44}$/.test(text)) return null;
  const hex = hexOfBase58(text.slice(1));
  return hex.length === 68 && hex.startsWith('ed01') ? Buffer.from(hex.slice(4), 'hex') : null;
}

/** The bytes of base64url without padding or stray bits; null for any other text. */
export function bytesOfBase64url(text) {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

export function isDidKey(text) {
  return typeof text === 'string' && text.startsWith('did:key:') && bytesOfMultikey(text.slice(8)) !== null;
}

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const didWeb = new RegExp(
  `^did:web:((?:${label}\\.)*(${label}))(?:%3A([1-9][0-9]{0,4}))?((?::[A-Za-z0-9._-]+)*)$`,
);

export function isDidWeb(text) {
  const match = typeof text === 'string' && text.length <= 512 && didWeb.exec(text);
  if (!match) return false;
  const [, host, last, port = '443', path] = match;
  const isPath = !path.split(':').some((segment) => segment === '.' || segment === '..');
  return host.length <= 253 && !/^(?:[0-9]+|0x[0-9a-f]*)$/.test(last) && Number(port) <= 65535 && isPath;
}
