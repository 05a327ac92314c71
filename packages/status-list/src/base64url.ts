/**
 * Unpadded base64url (RFC 4648 §5). Decoding is canonical: text that would not be written again character for
 * character (padding, stray trailing bits, white space, another alphabet) is refused, so bytes have one spelling.
 */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

export function encodeBase64url(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const chars = Math.min(bytes.length - at, 3) + 1;
    for (let n = 0; n < chars; n++) text += ALPHABET[(group >> (18 - 6 * n)) & 63];
  }
  return text;
}

export function decodeBase64url(text: string): Uint8Array | null {
  if (text.length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let pending = 0;
  let pendingBits = 0;
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const value = ALPHABET.indexOf(text.charAt(at));
    if (value < 0) return null;
    pending = ((pending << 6) | value) & 0xffff;
    pendingBits += 6;
    if (pendingBits >= 8) {
      pendingBits -= 8;
      bytes[length++] = (pending >> pendingBits) & 0xff;
    }
  }
  const strayBits = pending & ((1 << pendingBits) - 1);
  return strayBits === 0 ? bytes : null;
}
