/** Of what was kept of pauses the latest change of each subject counts; where that is not known, a pause. */
import type { DidWeb } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import type { ChangedPause, EndedKey } from '../fence/records.ts';
import { withoutOlderPauses } from './end-again.ts';

const owner = 'did:web:acme.example' as DidWeb;
const change = (isPaused: boolean, changedAtMs: number | null = null): ChangedPause => ({
  ...{ kind: 'pause', scope: 'grant', owner, subject: 'urn:svc:grant:1' },
  ...{ isPaused, reason: null, changedAtMs, sinceMs: 1 },
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
  const key: EndedKey = {
    ...{ kind: 'key', kid: 'k', principal: owner, sinceMs: 1 },
    ...{ state: 'retired', publicKeyMultibase: null },
  };
  expect(withoutOlderPauses([key, change(true, 1), key])).toEqual([key, change(true, 1), key]);
});
