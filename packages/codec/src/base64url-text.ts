/**
 * Text in base64url: the canonical spelling of its UTF-8 form (protocol §1). It uses the platform's own decoder, which
 * is faster than one in JavaScript but lenient. So a decoded text is accepted only if encoding it again gives the same
 * base64url.
 */
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { decodeUtf8, encodeUtf8 } from './utf8.ts';

/** One implementation. All implementations give the same answers. */
export interface Base64urlText {
  readonly encode: (text: string) => string;
  readonly decode: (text: string) => string | null;
}

const ASCII = /^\p{ASCII}*$/u;

/**
 * Uses `btoa` and `atob`, which every runtime has, where the text is ASCII, as nearly every token is; else the code in
 * base64url.ts.
 */
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

/** Null if the text is not base64, or the decoded text is not ASCII. */
const decodeAscii = (text: string): string | null => {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return ASCII.test(binary) ? binary : null;
  } catch {
    return null;
  }
};

/** The members used of Node's `Buffer`, which other server runtimes also have. */
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

/** Uses `Buffer`; null where the runtime has none, or one without the base64url encoding. */
export const platformText: Base64urlText | null = /* @__PURE__ */ (() => {
  const { Buffer: buffers } = globalThis as { readonly Buffer?: Buffers };
  return buffers?.isEncoding('base64url') === true ? bufferText(buffers) : null;
})();

const { encode, decode } = platformText ?? portableText;

/** base64url of the UTF-8 form of a text. A lone surrogate has no UTF-8 form and becomes U+FFFD. */
export const encodeBase64urlText = encode;

/** The text whose UTF-8 form has this canonical base64url; null if there is none. A byte order mark is kept. */
export const decodeBase64urlText = decode;
