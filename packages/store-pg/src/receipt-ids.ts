/** Receipt ids begin with their time; this module maps instants to positions in their order. */
import { DAY_MS, dayOf, dayStartMs, encodeUlid, ulidTimeMs } from '@svc/protocol';

const FIRST_MS = 0;
const LAST_MS = 2 ** 48 - 1;
const LAST_DAY = Date.parse('9999-12-31') / DAY_MS;

/** No receipt of this instant or later has a lower id. Instants outside the range of ids are clamped to it. */
export const lowestReceiptId = (ms: number): string =>
  `drc_${encodeUlid(Math.min(Math.max(ms, FIRST_MS), LAST_MS), new Uint8Array(10))}`;

/** The lowest id of the next millisecond: higher than this id and all others of its millisecond. */
export const nextMillisecond = (receiptId: string): string => lowestReceiptId(timeMsOf(receiptId) + 1);

/** The UTC day of an id, counted from 1970-01-01. */
export const dayNumberOf = (receiptId: string): number => Math.floor(timeMsOf(receiptId) / DAY_MS);

const timeMsOf = (receiptId: string): number => {
  const ms = ulidTimeMs(receiptId.slice('drc_'.length));
  if (ms === null) throw new RangeError(`no receipt id: ${receiptId}`);
  return ms;
};

/** The lowest id of a day. */
export const firstIdOfDay = (dayNumber: number): string => lowestReceiptId(dayNumber * DAY_MS);

/** The lowest id of a day, and the lowest of the next day. */
export const idsOfDay = (day: string): readonly [first: string, end: string] => {
  const startMs = dayStartMs(day);
  return [lowestReceiptId(startMs), lowestReceiptId(startMs + DAY_MS)];
};

/** `YYYY-MM-DD`. Remembers the last result, since most ids of a list are of one day. */
export const dateOfDay = (dayNumber: number): string => {
  if (last.dayNumber !== dayNumber) last = { dayNumber, date: dayOf(dayNumber * DAY_MS) };
  return last.date;
};
let last = { dayNumber: Number.NaN, date: '' };

/** The day of an id. Ids of years after 9999 are mapped to the last day of 9999, which holds no Receipts. */
export const dayOfId = (receiptId: string): string => dateOfDay(Math.min(dayNumberOf(receiptId), LAST_DAY));

/** The table with the receipts of a day (migrations/0001-foundation/05-partitions.sql). */
export const tableOfDay = (day: string): string => `receipts_${day.replaceAll('-', '')}`;

export const partitionOfDay = (dayNumber: number): string => tableOfDay(dateOfDay(dayNumber));

export const higherId = (a: string, b: string): string => (a > b ? a : b);
export const lowerId = (a: string, b: string): string => (a < b ? a : b);
