/**
 * Text in base64url: the canonical spelling of its UTF-8 form (protocol §1). It goes through the platform's own decoder, which is
 * faster than one in JavaScript, and lenient: what it reads counts only where it is written the same way again.
 */
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { decodeUtf8, encodeUtf8 } from './utf8.ts';

/** One way to do it. All of them give the same answers. */
export interface Base64urlText {
  readonly encode: (text: string) => string;
  readonly decode: (text: string) => string | null;
}

const ASCII = /^\p{ASCII}*$/u;

/** By what every runtime has, where the text is ASCII as nearly every token is. */
export const portableText: Base64urlText = {
  encode: (text) => {
    if (!ASCII.test(text)) return encodeBase64url(encodeUtf8(text));
    const padded = btoa(text).replaceAll('+', '-').replaceAll('/', '_');
    const padding = padded.indexOf('=');
    return padding < 0 ? padded : padded.slice(0, padding);
  },
  decode: (text) => {
    const ascii = decodeAscii(text);
    if (ascii !== null) return portableText.encode(ascii) === text ? ascii : null;
    const bytes = decodeBase64url(text);
    return bytes === null ? null : decodeUtf8(bytes);
  },
};

/** Null: not ASCII, or not base64 at all. */
const decodeAscii = (text: string): string | null => {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return ASCII.test(binary) ? binary : null;
  } catch {
    return null;
  }
};

/** What is used of Node's `Buffer`, which other servers have too. */
interface Buffers {
  isEncoding(name: string): boolean;
  from(
    text: string,
    encoding: 'utf8' | 'base64url',
  ): Uint8Array & { toString(encoding: 'base64url'): string };
}

const bufferText = (buffers: Buffers): Base64urlText => ({
  encode: (text) => buffers.from(text, 'utf8').toString('base64url'),
  decode: (text) => {
    const bytes = buffers.from(text, 'base64url');
    return bytes.toString('base64url') === text ? decodeUtf8(bytes) : null;
  },
});

/** By `Buffer`; null where there is none, or one without this encoding. */
export const platformText: Base64urlText | null = /* @__PURE__ */ (() => {
  const { Buffer: buffers } = globalThis as { readonly Buffer?: Buffers };
  return buffers?.isEncoding('base64url') === true ? bufferText(buffers) : null;
})();

const { encode, decode } = platformText ?? portableText;

/** The UTF-8 form of a text. A lone surrogate has none and becomes U+FFFD. */
export const encodeBase64urlText = encode;

/** The text behind the canonical base64url of its UTF-8 form, or null. A byte order mark is kept. */
export const decodeBase64urlText = decode;
