/** P19 under svc-base-v2: the calendar window that contains an instant, and what was spent in it (protocol §11). */
import { DAY_MS } from '@svc/protocol';
import { consumed, underV2 } from '../../balances.ts';
import { purchaseCapability, type Scene } from '../../scene.ts';
import { allow, type Covers, deny, type VectorCase } from '../../vector-case.ts';

const LEFT: Covers = { P19: true };
const SPENT: Covers = { P18: true, P19: false, P20: 'skipped' };

const seconds = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Moves the whole scene to another time; its facts keep their age. */
const at = (s: Scene, now: string): void => {
  const ms = Date.parse(now);
  s.now = now;
  s.grant.payload.validFrom = seconds(ms - DAY_MS);
  s.grant.payload.validUntil = seconds(ms + DAY_MS);
  s.resolvedAt = new Date(ms - 120_000).toISOString();
  s.status.checked_at = new Date(ms - 10_000).toISOString();
};

/**
 * A purchase of 42,700 at `now`, with a limit of 100,000 per period, of which `inPeriod` was spent in the window that
 * began at `start`.
 */
const spending =
  (period: string, now: string, start: string, inPeriod: number) =>
  (s: Scene): void => {
    const capability = purchaseCapability({ maxPerPeriod: 100_000, period });
    underV2([capability], consumed([capability, { total: inPeriod, inPeriod, periodStart: start }]))(s);
    at(s, now);
  };

/** A window whose limit is used up: its last millisecond is denied, the next one is not. */
const edge = (
  id: string,
  period: string,
  what: string,
  start: string,
  end: string,
): readonly VectorCase[] => {
  const last = new Date(Date.parse(end) - 1).toISOString();
  return [
    deny(
      'AMOUNT_EXCEEDS_AUTHORITY',
      `v2-${id}-last-millisecond`,
      `${what} is not over yet`,
      SPENT,
      spending(period, last, start, 100_000),
    ),
    allow(`v2-${id}-over`, `${what} is over`, LEFT, spending(period, end, start, 100_000)),
  ];
};

const EDGES: readonly VectorCase[] = [
  ...edge('hour', 'hour', 'the hour', '2026-11-20T10:00:00.000Z', '2026-11-20T11:00:00.000Z'),
  ...edge(
    'hour-of-midnight',
    'hour',
    'the last hour of a day',
    '2026-11-20T23:00:00.000Z',
    '2026-11-21T00:00:00.000Z',
  ),
  ...edge('day', 'day', 'the day', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'),
  ...edge('day-of-year-end', 'day', 'New Year’s Eve', '2026-12-31T00:00:00.000Z', '2027-01-01T00:00:00.000Z'),
  ...edge(
    'day-28-february',
    'day',
    '28 February of a leap year',
    '2028-02-28T00:00:00.000Z',
    '2028-02-29T00:00:00.000Z',
  ),
  ...edge('day-29-february', 'day', '29 February', '2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'),
  ...edge(
    'week',
    'week',
    'the week, which ends on Sunday,',
    '2026-11-16T00:00:00.000Z',
    '2026-11-23T00:00:00.000Z',
  ),
  ...edge(
    'week-across-years',
    'week',
    'a week that lies in two years',
    '2026-12-28T00:00:00.000Z',
    '2027-01-04T00:00:00.000Z',
  ),
  ...edge(
    'week-of-leap-day',
    'week',
    'the week of 29 February',
    '2028-02-28T00:00:00.000Z',
    '2028-03-06T00:00:00.000Z',
  ),
  ...edge('month', 'month', 'a month of 30 days', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'),
  ...edge('month-of-year-end', 'month', 'December', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'),
  ...edge(
    'month-february',
    'month',
    'February of 28 days',
    '2027-02-01T00:00:00.000Z',
    '2027-03-01T00:00:00.000Z',
  ),
  ...edge(
    'month-february-leap',
    'month',
    'February of 29 days',
    '2028-02-01T00:00:00.000Z',
    '2028-03-01T00:00:00.000Z',
  ),
];

const NOON = '2026-11-20T12:00:00.000Z';
const TODAY = '2026-11-20T00:00:00.000Z';

const IN_PERIOD: readonly VectorCase[] = [
  allow('v2-period-first', 'nothing was consumed before', LEFT, (s) => {
    underV2([purchaseCapability({ maxPerPeriod: 100_000, period: 'day' })])(s);
  }),
  allow(
    'v2-period-exactly',
    'what is left of the day is spent to the last minor unit',
    LEFT,
    spending('day', NOON, TODAY, 57_300),
  ),
  deny(
    'AMOUNT_EXCEEDS_AUTHORITY',
    'v2-period-one-over',
    'one minor unit is missing',
    SPENT,
    spending('day', NOON, TODAY, 57_301),
  ),
  deny(
    'AMOUNT_EXCEEDS_AUTHORITY',
    'v2-period-zero',
    'a limit of 0 is a limit in every period',
    SPENT,
    underV2([purchaseCapability({ maxPerPeriod: 0, period: 'month' })]),
  ),
  deny(
    'AMOUNT_EXCEEDS_AUTHORITY',
    'v2-period-over-one-window',
    'a new window does not hold more than the limit either',
    SPENT,
    underV2([purchaseCapability({ maxPerPeriod: 42_699, period: 'hour' })]),
  ),
  deny(
    'AMOUNT_EXCEEDS_AUTHORITY',
    'v2-period-begun-ahead',
    'windows never go back: once the next has begun, a decision dated a moment before falls into it',
    SPENT,
    spending('hour', '2026-11-20T09:59:59.999Z', '2026-11-20T10:00:00.000Z', 100_000),
  ),
  deny(
    'AMOUNT_EXCEEDS_AUTHORITY',
    'v2-period-new-total-spent',
    'a new window does not renew the total',
    SPENT,
    (s) => {
      const capability = purchaseCapability({ maxTotal: 100_000, maxPerPeriod: 100_000, period: 'day' });
      const spent = { total: 100_000, inPeriod: 100_000, periodStart: '2026-11-19T00:00:00.000Z' };
      underV2([capability], consumed([capability, spent]))(s);
    },
  ),
  allow('v2-every-limit', 'total, period and uses all suffice exactly', LEFT, (s) => {
    const capability = purchaseCapability({
      ...{ maxTotal: 142_700, maxPerPeriod: 50_000, period: 'week', maxUses: 5 },
    });
    const spent = { total: 100_000, inPeriod: 7_300, periodStart: '2026-11-16T00:00:00.000Z', uses: 4 };
    underV2([capability], consumed([capability, spent]))(s);
  }),
];

export const cases: readonly VectorCase[] = [...EDGES, ...IN_PERIOD];
