import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatSeconds,
  formatTimestamp,
  parseAnyUtcTime,
  parseDateTime,
  parseInstant,
  parseTimestamp,
  parseUtcTime,
} from './timestamp.ts';

const instant = fc
  .date({
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  .map((date) => date.getTime());

describe('timestamps', () => {
  it('are parsed to the instant that was formatted, in seconds and in milliseconds', () => {
    fc.assert(
      fc.property(instant, (ms) => {
        expect(parseTimestamp(formatSeconds(ms))).toBe(Math.floor(ms / 1000) * 1000);
        expect(formatTimestamp(ms)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(parseInstant(formatTimestamp(ms))).toBe(ms);
        expect(parseUtcTime(formatTimestamp(ms))).toBe(ms);
        expect(parseUtcTime(formatSeconds(ms))).toBe(Math.floor(ms / 1000) * 1000);
      }),
    );
  });

  it.each([
    ...['', '2026-11-20T08:00:00Z', '2026-11-20T08:00:00.0000Z', '2026-11-20T08:00:00.000+00:00'],
    ...['2026-11-20t08:00:00.000Z', '2026-11-20T08:00:00.000Z\n', '2026-02-30T00:00:00.000Z'],
    ...['2026-11-20T24:00:00.000Z', '9999-12-31T24:00:00.000Z', '2026-13-01T00:00:00.000Z'],
  ])('are refused by parseInstant: %j', (text) => {
    expect(parseInstant(text)).toBeNull();
  });

  it.each([
    ['2026-11-20T08:00:00Z', 0],
    ['2026-11-20T08:00:00.5Z', 500],
    ['2026-11-20T08:00:00.12Z', 120],
    ['2026-11-20T08:00:00.000999999Z', 0],
  ])('are read by parseUtcTime to the millisecond: %j', (text, ms) => {
    expect(parseUtcTime(text)).toBe(1_795_161_600_000 + ms);
  });

  it.each([
    ...['2026-11-20T08:00:002026-11-20T08:00:00Z', '2026-11-20T08:00:00Z2026-11-20T08:00:00'],
    ...['', '2026-11-20T08:00:00.Z', '2026-11-20T08:00:00.1234567890Z', '2026-11-20T08:00:00.5'],
    ...['2026-11-20T08:00:00.5+00:00', '2026-02-30T00:00:00Z', '2026-02-30T00:00:00.5Z'],
    ...['2026-02-29T00:00:00.000Z', '2026-11-20T24:00:00.0Z', '2026-11-20T08:00:00.000Z\n'],
  ])('are refused by parseUtcTime: %j', (text) => {
    expect(parseUtcTime(text)).toBeNull();
  });

  it('have three decimals from formatTimestamp, and none from formatSeconds', () => {
    expect(formatTimestamp(1_795_161_600_000)).toBe('2026-11-20T08:00:00.000Z');
    expect(formatSeconds(1_795_161_600_999)).toBe('2026-11-20T08:00:00Z');
    expect(parseTimestamp('2024-02-29T23:59:59Z')).toBe(Date.UTC(2024, 1, 29, 23, 59, 59));
  });

  it.each([
    ...[
      '',
      '2026-11-20',
      '2026-11-20T08:00Z',
      '2026-11-20T08:00:00',
      '2026-11-20T08:00:00.000Z',
      '2026-11-20T08:00:00+00:00',
    ],
    ...[
      '2026-11-20t08:00:00z',
      '2026-11-20 08:00:00Z',
      '2026-11-20T08:00:00Z\n',
      ' 2026-11-20T08:00:00Z',
      '+002026-11-20T08:00:00Z',
    ],
    ...[
      '2026-02-29T00:00:00Z',
      '2026-02-30T00:00:00Z',
      '2026-04-31T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-00-01T00:00:00Z',
    ],
    ...[
      '2026-01-00T00:00:00Z',
      '2026-01-01T24:00:00Z',
      '2026-01-01T23:60:00Z',
      '2026-12-31T23:59:60Z',
      '2026-11-20T08:00:60Z',
      '２026-01-01T00:00:00Z',
    ],
  ])('are refused by parseTimestamp: %j', (text) => {
    expect(parseTimestamp(text)).toBeNull();
  });

  it('are not formatted outside four-digit years, or for fractions of a millisecond', () => {
    for (const ms of [
      Date.parse('+010000-01-01T00:00:00Z'),
      Date.parse('-000001-01-01T00:00:00Z'),
      0.5,
      Number.NaN,
    ]) {
      expect(() => formatTimestamp(ms)).toThrow(RangeError);
    }
  });
});

describe('a time from outside', () => {
  const AT = Date.UTC(2026, 10, 20, 8);
  it.each([
    ['2026-11-20T08:00:00Z', AT],
    ['2026-11-20t08:00:00z', AT],
    ['2026-11-20T08:00:00+00:00', AT],
    ['2026-11-20t08:00:00-00:00', AT],
    ['2026-11-20T08:00:00.123456789+00:00', AT + 123],
    ['2026-11-20T08:00:00.5z', AT + 500],
  ])('is read as UTC: %s', (text, ms) => {
    expect(parseAnyUtcTime(text)).toBe(ms);
    expect(parseDateTime(text)).toBe(ms);
  });

  it.each([
    ['2026-11-20T13:30:00+05:30', AT],
    ['2026-11-20T00:00:00.000-08:00', AT],
    ['2026-11-21T07:59:00+23:59', AT],
  ])('is read by parseDateTime but not as UTC: %s', (text, ms) => {
    expect(parseDateTime(text)).toBe(ms);
    expect(parseAnyUtcTime(text)).toBeNull();
  });

  it('can be formatted as a timestamp, whatever its offset', () => {
    const two = (most: number) =>
      fc.integer({ min: 0, max: most }).map((number) => String(number).padStart(2, '0'));
    const local = fc.oneof(
      instant.map((ms) => formatTimestamp(ms).slice(0, -1)),
      fc.constantFrom('0000-01-01T00:00:00', '9999-12-31T23:59:59.999'),
    );
    fc.assert(
      fc.property(local, fc.constantFrom('+', '-'), two(23), two(59), (text, sign, hours, minutes) => {
        const ms = parseDateTime(`${text}${sign}${hours}:${minutes}`) ?? Number.NaN;
        expect(parseInstant(formatTimestamp(ms))).toBe(ms);
      }),
    );
    expect(parseDateTime('0000-01-01T00:00:00+00:01')).toBe(parseInstant('0000-01-01T00:00:00.000Z'));
    expect(parseDateTime('9999-12-31T23:59:59.999-00:01')).toBe(parseInstant('9999-12-31T23:59:59.999Z'));
  });

  it.each([
    '2026-11-20T08:00:00',
    '2026-11-20 08:00:00Z',
    '2026-11-20T08:00:00+0000',
    '2026-11-20T08:00:00+00',
    '2026-11-20T08:00:00+00:60',
    '2026-11-20T08:00:00+24:00',
    '2026-11-20T08:00:00 00:00',
    '2026-11-20T08:00:00ZZ',
    '2026-11-20T08:00:00.Z',
    '2026-11-20T08:00:00.1234567890Z',
    '2026-02-30T08:00:00+00:00',
    '2026-11-20T24:00:00z',
    '2026-11-20T23:59:60z',
    '+2026-11-20T08:00:00Z',
    '2026-11-20T08:00:00Z\n',
    'undefinedTundefinedZ',
    '',
  ])('is refused: %j', (text) => {
    expect(parseAnyUtcTime(text)).toBeNull();
    expect(parseDateTime(text)).toBeNull();
  });

  it.each(['2026-11-20t08:00:00Z', '2026-11-20T08:00:00z', '2026-11-20T08:00:00+00:00'])(
    'is refused by the parsers of signed times: %s',
    (text) => {
      expect([parseUtcTime(text), parseTimestamp(text), parseInstant(text)]).toEqual([null, null, null]);
    },
  );

  it('is formatted from the first to the last millisecond of four-digit years, and not beyond', () => {
    const [first, last] = ['0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
    expect([first, last].map((text) => formatTimestamp(parseInstant(text) ?? Number.NaN))).toEqual([
      first,
      last,
    ]);
    for (const ms of [Date.parse(first) - 1, Date.parse(last) + 1, 0.5, Number.NaN])
      expect(() => formatTimestamp(ms)).toThrow(RangeError);
  });
});
