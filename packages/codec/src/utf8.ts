/**
 * UTF-8 to and from JavaScript strings (RFC 3629).
 */
const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The UTF-8 bytes of `text`. A lone surrogate has no UTF-8 form and becomes U+FFFD. */
export const encodeUtf8 = (text: string): Uint8Array => encoder.encode(text);

/**
 * The text of well-formed UTF-8, or null. Overlong forms, encoded surrogates and truncated sequences are refused. A
 * byte order mark is kept as U+FEFF, so that strict JSON can refuse it.
 */
export const decodeUtf8 = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
};
