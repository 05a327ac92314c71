/** Of what was kept of pauses the latest change of each subject counts; where that is not known, a pause. */
import { describe, expect, it } from 'vitest';
import { withoutOlderPauses } from './end-again.ts';

const change = (isPaused: boolean, changedAtMs?: number) => ({
  name: 'pause:grant did:web:acme.example urn:svc:grant:1',
  kept: { is_paused: isPaused, ...(changedAtMs === undefined ? {} : { changed_at_ms: changedAtMs }) },
});
const both = <T>(one: T, other: T): T[][] => [
  [one, other],
  [other, one],
];

describe('of two changes of one subject, in either order', () => {
  it.each(both(change(true, 1), change(false, 2)))('the later one counts', (...kept) => {
    expect(withoutOlderPauses(kept)).toEqual([change(false, 2)]);
  });
  it.each(both(change(true, 5), change(false, 5)))('that are dated alike the pause counts', (...kept) => {
    expect(withoutOlderPauses(kept)).toEqual([change(true, 5)]);
  });
  it.each(both(change(true, 5), change(false)))('the one with a date counts', (...kept) => {
    expect(withoutOlderPauses(kept)).toEqual([change(true, 5)]);
  });
  it.each(both(change(true), change(false)))('without dates the pause counts', (...kept) => {
    expect(withoutOlderPauses(kept)).toEqual([change(true)]);
  });
});

it('whatever else was kept stays, in its order', () => {
  const key = { name: 'key:k', kept: {} };
  expect(withoutOlderPauses([key, change(true, 1), key])).toEqual([key, change(true, 1), key]);
});
