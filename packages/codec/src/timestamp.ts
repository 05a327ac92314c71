/**
 * RFC 3339 instants in UTC, to and from milliseconds since the epoch (interface §Identifier and value formats;
 * protocol §2 for the whole-second form inside Grants).
 */
const WHOLE_SECONDS = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$/;
const MILLISECONDS = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/;
const ANY_PRECISION = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z$/;
const SECONDS_CHARS = 'YYYY-MM-DDThh:mm:ss'.length;
const MIN_MS = Date.parse('0000-01-01T00:00:00.000Z');
const MAX_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Milliseconds of `YYYY-MM-DDThh:mm:ssZ`, or null for another form or a day or time that does not exist. */
export const parseTimestamp = (text: string): number | null => {
  if (!WHOLE_SECONDS.test(text)) return null;
  const ms = Date.parse(text);
  // `Date` rolls 30 February and 24:00:00 over; the way back shows it.
  return !Number.isNaN(ms) && formatSeconds(ms) === text ? ms : null;
};

/** Milliseconds of `YYYY-MM-DDThh:mm:ss.sssZ`, or null for another form or a day or time that does not exist. */
export const parseInstant = (text: string): number | null => {
  if (!MILLISECONDS.test(text)) return null;
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text ? ms : null;
};

/** Milliseconds of either form, or of one with 1 to 9 decimals, of which the first three count; null for anything else. */
export const parseUtcTime = (text: string): number | null => {
  if (!ANY_PRECISION.test(text)) return null;
  const secondMs = parseTimestamp(`${text.slice(0, SECONDS_CHARS)}Z`);
  const decimals = text.slice(SECONDS_CHARS + 1, -1);
  return secondMs === null ? null : secondMs + Number(decimals.slice(0, 3).padEnd(3, '0'));
};

/** `YYYY-MM-DDThh:mm:ss.sssZ`, always three decimals. Throws RangeError outside the years 0000–9999. */
export const formatTimestamp = (ms: number): string => {
  if (!Number.isInteger(ms) || ms < MIN_MS || ms > MAX_MS) throw new RangeError('instant out of range');
  return new Date(ms).toISOString();
};

/** `YYYY-MM-DDThh:mm:ssZ` of the second that has begun. Throws RangeError as `formatTimestamp` does. */
export const formatSeconds = (ms: number): string => `${formatTimestamp(ms).slice(0, SECONDS_CHARS)}Z`;
