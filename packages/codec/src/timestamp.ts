/**
 * RFC 3339 instants, to and from milliseconds since the epoch (interface §Identifier and value formats; protocol §2 for
 * the whole-second form in Grants). Signed timestamps have one spelling; other input may have every spelling that RFC
 * 3339 allows for UTC.
 */
/** Minutes and seconds end at 59: `Date` of some browsers takes 08:00:60 as 08:01:00. */
const FORM = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?Z$/;
/** RFC 3339 §5.6 `date-time`; `T` and `Z` in either case. */
const DATE_TIME =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?)(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$/;
const SECONDS_CHARS = 'YYYY-MM-DDThh:mm:ss'.length;
const MILLISECONDS_CHARS = 'YYYY-MM-DDThh:mm:ss.sss'.length;
const MIN_MS = -62_167_219_200_000;
const MAX_MS = 253_402_300_799_999;

/**
 * Milliseconds of `YYYY-MM-DDThh:mm:ssZ`, or of the same with 1 to 9 decimals, of which the first three are used. Null
 * for another form, or for a day or time that does not exist.
 */
export const parseUtcTime = (text: string): number | null => {
  if (!FORM.test(text)) return null;
  const ms = Date.parse(`${text.slice(0, SECONDS_CHARS)}Z`);
  // `Date` accepts 30 February and 24:00:00 and moves them to the next day; the day of the month shows the difference.
  if (new Date(ms).getUTCDate() !== Number(text.slice(8, 10))) return null;
  const decimals = text.slice(SECONDS_CHARS + 1, -1).slice(0, 3);
  return decimals === '' ? ms : ms + Number(decimals.padEnd(3, '0'));
};

/**
 * Milliseconds of an RFC 3339 time with any offset and up to 9 decimals, of which the first three are used. Null for
 * another form, or for a day, time or offset that does not exist. If the offset moves the UTC time out of the years
 * 0000 to 9999, which no timestamp can express, the result is the first or last millisecond of that range.
 */
export const parseDateTime = (text: string): number | null => {
  const [, day, time, sign, hours = '00', minutes = '00'] = DATE_TIME.exec(text) ?? [];
  const ms = parseUtcTime(`${day}T${time}Z`);
  if (ms === null || hours > '23' || minutes > '59') return null;
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return Math.min(MAX_MS, Math.max(MIN_MS, sign === '-' ? ms + offsetMs : ms - offsetMs));
};

/** The same for UTC alone, in every spelling: `Z`, `z`, `+00:00` or `-00:00`, with `T` or `t`. */
export const parseAnyUtcTime = (text: string): number | null =>
  /(?:[Zz]|[+-]00:00)$/.test(text) ? parseDateTime(text) : null;

/** `parseUtcTime` restricted to `YYYY-MM-DDThh:mm:ssZ`. */
export const parseTimestamp = (text: string): number | null =>
  text.length === SECONDS_CHARS + 1 ? parseUtcTime(text) : null;

/** `parseUtcTime` restricted to `YYYY-MM-DDThh:mm:ss.sssZ`. */
export const parseInstant = (text: string): number | null =>
  text.length === MILLISECONDS_CHARS + 1 ? parseUtcTime(text) : null;

/** `YYYY-MM-DDThh:mm:ss.sssZ`, always three decimals. Throws RangeError outside the years 0000–9999. */
export const formatTimestamp = (ms: number): string => {
  if (!Number.isInteger(ms) || ms < MIN_MS || ms > MAX_MS) throw new RangeError('instant out of range');
  return new Date(ms).toISOString();
};

/** `YYYY-MM-DDThh:mm:ssZ`, rounded down to the second. Throws RangeError outside the years 0000–9999. */
export const formatSeconds = (ms: number): string => `${formatTimestamp(ms).slice(0, SECONDS_CHARS)}Z`;
