/** A day that was tampered with is refused, and the part that is wrong is named. */

import { signedDays } from '@svc/testkit/receipts/signed-days';
import { serviceDocument } from '@svc/testkit/receipts/signed-receipts';
import { describe, expect, it } from 'vitest';
import type { Part } from '../shared/part.ts';
import type { Checkpoint } from '../shared/wire.ts';
import { checkDay, readService } from './check-day.ts';

const service = readService(JSON.stringify(serviceDocument));
const days = await signedDays();
const [dayBefore, day, otherDay] = [days[4], days[5], days[6]];
if (dayBefore === undefined || day === undefined || otherDay === undefined) throw new Error('there are days');

const wrong = (parts: readonly Part[]) => parts.filter(({ state }) => state === 'wrong').map(({ id }) => id);

describe('a day', () => {
  it('holds as signed, after the day before', () => {
    for (const [i, { record }] of days.entries())
      expect(wrong(checkDay(record, days[i - 1]?.record ?? null, service))).toEqual([]);
  });

  const changes: readonly (readonly [string, string, Partial<Checkpoint>])[] = [
    ['another root', 'content', { root: otherDay.record.root }],
    ['another size', 'content', { tree_size: 7 }],
    ['another root of the day before', 'chain', { previous_root: otherDay.record.root }],
    ['a signature of nothing', 'signature', { checkpoint: `${day.record.checkpoint.slice(0, -4)}AAAA` }],
  ];
  it.each(changes)('with %s is refused: %s', (_, part, change) => {
    expect(wrong(checkDay({ ...day.record, ...change }, dayBefore.record, service))).toContain(part);
  });
});

it('a DID document that is none is said to be so', () => {
  expect(() => readService('{}')).toThrow('cannot be read');
});
