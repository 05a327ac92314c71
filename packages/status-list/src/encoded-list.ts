/**
 * The text form of a status list: `u` (multibase base64url) and the base64url of the gzipped bits (Bitstring Status
 * List 1.0 §3.3–3.4). Compressors differ between platforms, so signed lists are stored and served unchanged; only the
 * decoded bits are compared.
 */
import { decodeBase64url, encodeBase64url } from '@svc/codec';
import { MIN_ENTRIES, type StatusBitstring } from './bitstring.ts';
import { gunzip, gzip } from './gzip.ts';

/** Room for 8,388,608 entries: 64 times the smallest list. */
export const DEFAULT_MAX_BYTES = 1_048_576;

/**
 * The text form of a status list, as `decodeBitstring` reads it.
 * @throws RangeError if the list is shorter than the specification allows.
 */
export function encodeBitstring(bits: StatusBitstring): string {
  if (bits.length * 8 < MIN_ENTRIES)
    throw new RangeError(`a status list has at least ${MIN_ENTRIES} entries`);
  return encodeGzipped(gzip(bits));
}

/** The same for bits that the caller has already compressed to one gzip member, for example on another thread. */
export const encodeGzipped = (member: Uint8Array): string => `u${encodeBase64url(member)}`;

/**
 * The bits of an encoded list. Never throws, and never allocates much more than `maxBytes`, whatever the text claims.
 *
 * Null if the text is:
 *
 * - not multibase base64url in canonical form;
 * - not exactly one intact gzip member;
 * - below the minimum size, or above `maxBytes` once inflated.
 */
export function decodeBitstring(text: string, maxBytes: number = DEFAULT_MAX_BYTES): StatusBitstring | null {
  if (!text.startsWith('u') || text.length > maxChars(maxBytes)) return null;
  const member = decodeBase64url(text.slice(1));
  const bits = member && gunzip(member, maxBytes);
  return bits !== null && bits.length * 8 >= MIN_ENTRIES ? bits : null;
}

/**
 * Longest text of a list of `maxBytes`: incompressible content with five bytes for every stored block, and header and
 * trailer, all in base64.
 */
const maxChars = (maxBytes: number): number => Math.ceil(((maxBytes + maxBytes / 256 + 64) * 4) / 3);
