/** UTC days. A Receipt belongs to the day of the time in its ULID (protocol §12). */

import { DAY_MS, dayOf, dayStartMs, parseTimestamp, ulidTimeMs } from '@svc/codec';
import { hashLeaf, type Sha256 } from '@svc/merkle';
import { isReceiptId, ulidOf } from '@svc/protocol';

/** Whether the text is an existing day, `YYYY-MM-DD`. */
export const isDay = (text: unknown): text is string =>
  typeof text === 'string' && parseTimestamp(`${text}T00:00:00Z`) !== null;

/** The end of a day (exclusive) in milliseconds since the epoch. */
export const dayEndMs = (day: string): number => dayStartMs(day) + DAY_MS;

/** The next day. Throws RangeError after the year 9999, and for a text that is not a day. */
export const dayAfter = (day: string): string => {
  const next = isDay(day) ? dayOf(dayEndMs(day)) : '';
  if (!isDay(next)) throw new RangeError(`no day follows ${day}`);
  return next;
};

/** The UTC day of a Receipt; null if the text is not a Receipt id, or its time is beyond the year 9999. */
export const dayOfReceipt = (receiptId: string): string | null => {
  const timeMs = isReceiptId(receiptId) ? ulidTimeMs(ulidOf(receiptId)) : null;
  const day = timeMs === null ? null : dayOf(timeMs);
  return isDay(day) ? day : null;
};

/** The leaf of a Receipt: SHA-256(0x00 ‖ receipt_id). */
export const leafOfReceipt = (receiptId: string, sha256?: Sha256): Uint8Array => hashLeaf(receiptId, sha256);
