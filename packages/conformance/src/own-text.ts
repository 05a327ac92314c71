/**
 * What is kept of a text that the endpoint sent. A string that was cut out of an answer may be a view of it, and would
 * hold all of the answer in memory for as long as the report is; this is a copy.
 */
import { decodeUtf8, encodeUtf8 } from '@svc/protocol';

/** The first `maxChars` UTF-16 code units as a string of its own; half a surrogate pair becomes U+FFFD. */
export const ownText = (text: string, maxChars: number): string =>
  decodeUtf8(encodeUtf8(text.slice(0, maxChars))) ?? '';
