/**
 * Copies text from the endpoint for the report. A substring may be a view of the whole answer, and would keep all of it
 * in memory as long as the report exists.
 */
import { decodeUtf8, encodeUtf8 } from '@svc/protocol';

/** The first `maxChars` UTF-16 code units as a new string; half a surrogate pair becomes U+FFFD. */
export const ownText = (text: string, maxChars: number): string =>
  decodeUtf8(encodeUtf8(text.slice(0, maxChars))) ?? '';
