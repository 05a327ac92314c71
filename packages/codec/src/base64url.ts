/**
 * base64url without padding (RFC 4648 §5, RFC 7515 §2), canonical only.
 *
 * Lenient decoders accept several texts for the same bytes: with stray trailing bits, padding or white space. Two
 * spellings of one signed token would have two hashes, so exactly one spelling is accepted (protocol §1).
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const INVALID = 0xff;

const valueOfCode = new Uint8Array(128).fill(INVALID);
for (let value = 0; value < ALPHABET.length; value++) valueOfCode[ALPHABET.charCodeAt(value)] = value;

const codes = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0));
const ascii = /* @__PURE__ */ new TextDecoder();

/** base64url without padding (RFC 4648 §5): the only spelling that `decodeBase64url` accepts. */
export const encodeBase64url = (bytes: Uint8Array): string => {
  const text = new Uint8Array(Math.ceil((bytes.length * 4) / 3));
  let out = 0;
  for (let i = 0; i < bytes.length; i += 3) {
    // Beyond the end, `at` reads zeros, so unused low bits are zero; the surplus characters are dropped.
    const group = (at(bytes, i) << 16) | (at(bytes, i + 1) << 8) | at(bytes, i + 2);
    text[out++] = at(codes, group >> 18);
    text[out++] = at(codes, (group >> 12) & 63);
    text[out++] = at(codes, (group >> 6) & 63);
    text[out++] = at(codes, group & 63);
  }
  return ascii.decode(text);
};

/** The bytes of a canonical base64url text; null if no bytes encode to this text. */
export const decodeBase64url = (text: string): Uint8Array | null => {
  const tail = text.length % 4;
  if (tail === 1) return null;
  const whole = text.length - tail;
  const bytes = new Uint8Array((whole / 4) * 3 + (tail === 0 ? 0 : tail - 1));
  let out = 0;
  for (let i = 0; i < whole; i += 4) {
    const a = sextet(text, i);
    const b = sextet(text, i + 1);
    const c = sextet(text, i + 2);
    const d = sextet(text, i + 3);
    if ((a | b | c | d) > 63) return null;
    bytes[out++] = (a << 2) | (b >> 4);
    bytes[out++] = (b << 4) | (c >> 2);
    bytes[out++] = (c << 6) | d;
  }
  return tail === 0 || decodeTail(text, whole, tail, bytes, out) ? bytes : null;
};

/** Decodes the last 2 or 3 characters. Their unused low bits must be zero, so that only one spelling is accepted. */
const decodeTail = (text: string, start: number, tail: number, bytes: Uint8Array, out: number): boolean => {
  const a = sextet(text, start);
  const b = sextet(text, start + 1);
  const c = tail === 3 ? sextet(text, start + 2) : 0;
  if ((a | b | c) > 63) return false;
  bytes[out] = (a << 2) | (b >> 4);
  if (tail === 2) return (b & 15) === 0;
  bytes[out + 1] = (b << 4) | (c >> 2);
  return (c & 3) === 0;
};

const sextet = (text: string, index: number): number => valueOfCode[text.charCodeAt(index)] ?? INVALID;
const at = (bytes: Uint8Array, index: number): number => bytes[index] ?? 0;
