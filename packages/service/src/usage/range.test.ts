import { DAY_MS } from '@svc/codec';
import { describe, expect, it } from 'vitest';
import { daysOf, parseRange } from './range.ts';

const at = (text: string) => Date.parse(text);
const now = at('2026-11-20T13:00:00.500Z');

describe('a period', () => {
  it('is by default the last 30 UTC days, including today', () => {
    expect(parseRange({}, now)).toEqual({
      sinceMs: at('2026-10-22T00:00:00Z'),
      untilMs: at('2026-11-21T00:00:00Z'),
    });
  });

  it('has a default for each end that is not given', () => {
    expect(parseRange({ since: now }, now)).toEqual({ sinceMs: now, untilMs: at('2026-11-21T00:00:00Z') });
    expect(parseRange({ until: now }, now)).toEqual({ sinceMs: at('2026-10-22T00:00:00Z'), untilMs: now });
  });

  it('has at least one millisecond and at most 366 days', () => {
    const of = (length: number) => () => parseRange({ since: now, until: now + length }, now);
    expect(of(1)()).toEqual({ sinceMs: now, untilMs: now + 1 });
    expect(of(366 * DAY_MS)()).toEqual({ sinceMs: now, untilMs: now + 366 * DAY_MS });
    for (const length of [0, -1, 366 * DAY_MS + 1]) expect(of(length)).toThrow('must be');
  });

  it('has every day of which it contains a part', () => {
    const days = (since: string, until: string) => daysOf({ sinceMs: at(since), untilMs: at(until) });
    expect(days('2026-02-28T00:00:00Z', '2026-03-01T00:00:00Z')).toEqual(['2026-02-28']);
    expect(days('2024-02-28T23:59:59.999Z', '2024-03-01T00:00:00.001Z')).toEqual([
      '2024-02-28',
      '2024-02-29',
      '2024-03-01',
    ]);
    expect(days('1969-12-31T23:00:00Z', '1970-01-01T01:00:00Z')).toEqual(['1969-12-31', '1970-01-01']);
  });
});
