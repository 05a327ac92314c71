/**
 * ULIDs (ulid/spec): 48 bits of milliseconds and 80 random bits in Crockford base32, 26 characters. Time and
 * randomness are passed in; the order within one millisecond is arbitrary.
 */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Source of a regular expression that matches one ULID. */
export const ULID_PATTERN = '[0-7][0-9A-HJKMNP-TV-Z]{25}';
const ULID = new RegExp(`^${ULID_PATTERN}$`);
const TIME_CHARS = 10;
const MAX_TIME_MS = 2 ** 48 - 1;

/**
 * `random` must be exactly 10 bytes. Throws RangeError on another length, or on a time that is not an integer from 0 to
 * 2^48 − 1.
 */
export const encodeUlid = (timeMs: number, random: Uint8Array): string => {
  if (!Number.isInteger(timeMs) || timeMs < 0 || timeMs > MAX_TIME_MS)
    throw new RangeError('ULID time out of range');
  if (random.length !== 10) throw new RangeError('a ULID takes 10 random bytes');
  let time = '';
  for (let rest = timeMs; time.length < TIME_CHARS; rest = Math.floor(rest / 32))
    time = digit(rest % 32) + time;
  return time + encodeFiveBytes(random, 0) + encodeFiveBytes(random, 5);
};

/** The milliseconds since the epoch in a ULID's first ten characters, or null if the text is not a ULID. */
export const ulidTimeMs = (ulid: string): number | null => {
  if (!ULID.test(ulid)) return null;
  let timeMs = 0;
  for (let i = 0; i < TIME_CHARS; i++) timeMs = timeMs * 32 + ALPHABET.indexOf(ulid.charAt(i));
  return timeMs;
};

/** 40 bits give 8 characters. Works byte by byte, with at most 12 bits pending. */
const encodeFiveBytes = (bytes: Uint8Array, start: number): string => {
  let text = '';
  let waiting = 0;
  let bits = 0;
  for (let i = start; i < start + 5; i++) {
    waiting = ((waiting << 8) | (bytes[i] ?? 0)) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += digit((waiting >> (bits - 5)) & 31);
  }
  return text;
};

const digit = (value: number): string => ALPHABET.charAt(value);
