/** Only the latest pause or push of each subject is applied; where it is not known which is the latest, a pause is. */
import type { DidWeb, OrgId } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import type { ChangedPause, EndedKey, PushedEntitlement } from '../fence/records.ts';
import { withoutOlderPauses, withoutOlderPushes } from './end-again.ts';

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

describe('of the pushes of one org', () => {
  const push = (production: 'allowed' | 'blocked', asOfMs: number, org = 'org_a'): PushedEntitlement => ({
    ...{ kind: 'entitlement', orgId: org as OrgId },
    push: {
      ...{ production, productionUntilMs: null, checkCap: null, capSinceMs: null },
      ...{ reason: 'paid', asOfMs },
    },
  });
  const [blocked, allowed] = [push('blocked', 5), push('allowed', 5)];

  it.each(both(blocked, push('allowed', 6)))('that of the highest as_of counts, wherever it is', (...two) => {
    expect(withoutOlderPushes([], two)).toEqual([push('allowed', 6)]);
    expect(withoutOlderPushes(two.slice(0, 1), two.slice(1))).toEqual([push('allowed', 6)]);
  });
  it.each(both(blocked, allowed))('with one as_of the last line of the log counts', (...lines) => {
    expect(withoutOlderPushes([], lines)).toEqual(lines.slice(1));
  });
  it.each(both(blocked, allowed))(
    'with one as_of the copy beside the fence counts, not the log',
    (copy, line) => {
      expect(withoutOlderPushes([copy], [line])).toEqual([copy]);
    },
  );
  it.each(both(blocked, allowed))(
    'with one as_of the last line of a log that has the copy counts: the fence was set back too, or had not the last second',
    (copy, line) => {
      expect(withoutOlderPushes([{ ...copy }], [copy, line])).toEqual([line]);
    },
  );
  it('those of other orgs, and whatever is no push, stay', () => {
    const [other, pause] = [push('blocked', 1, 'org_b'), change(true)];
    expect(withoutOlderPushes([other, pause], [blocked, allowed])).toEqual([other, pause, allowed]);
  });
});
