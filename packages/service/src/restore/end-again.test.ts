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

describe('withoutOlderPauses, for two changes of one subject in either order,', () => {
  it.each(both(change(true, 1), change(false, 2)))('keeps the later one', (...kept) => {
    expect(withoutOlderPauses(kept)).toEqual([change(false, 2)]);
  });
  it.each(both(change(true, 5), change(false, 5)))(
    'keeps the pause if both have the same date',
    (...kept) => {
      expect(withoutOlderPauses(kept)).toEqual([change(true, 5)]);
    },
  );
  it.each(both(change(true, 5), change(false)))('keeps the one with a date', (...kept) => {
    expect(withoutOlderPauses(kept)).toEqual([change(true, 5)]);
  });
  it.each(both(change(true), change(false)))('keeps the pause if neither has a date', (...kept) => {
    expect(withoutOlderPauses(kept)).toEqual([change(true)]);
  });
});

it('withoutOlderPauses keeps all other records, in their order', () => {
  const key: EndedKey = {
    ...{ kind: 'key', kid: 'k', principal: owner, sinceMs: 1 },
    ...{ state: 'retired', publicKeyMultibase: null },
  };
  expect(withoutOlderPauses([key, change(true, 1), key])).toEqual([key, change(true, 1), key]);
});

describe('withoutOlderPushes, for the pushes of one org,', () => {
  const push = (production: 'allowed' | 'blocked', asOfMs: number, org = 'org_a'): PushedEntitlement => ({
    ...{ kind: 'entitlement', orgId: org as OrgId },
    push: {
      ...{ production, productionUntilMs: null, checkCap: null, capSinceMs: null },
      ...{ reason: 'paid', asOfMs },
    },
  });
  const [blocked, allowed] = [push('blocked', 5), push('allowed', 5)];

  it.each(both(blocked, push('allowed', 6)))(
    'keeps the push with the highest as_of, wherever it is',
    (...two) => {
      expect(withoutOlderPushes([], two)).toEqual([push('allowed', 6)]);
      expect(withoutOlderPushes(two.slice(0, 1), two.slice(1))).toEqual([push('allowed', 6)]);
    },
  );
  it.each(both(blocked, allowed))('keeps the last line of the log if as_of is equal', (...lines) => {
    expect(withoutOlderPushes([], lines)).toEqual(lines.slice(1));
  });
  it.each(both(blocked, allowed))(
    'keeps the copy beside the fence, not the line of the log, if as_of is equal',
    (copy, line) => {
      expect(withoutOlderPushes([copy], [line])).toEqual([copy]);
    },
  );
  it.each(both(blocked, allowed))(
    'keeps the last line of a log that contains the copy, if as_of is equal: the fence may be behind the log',
    (copy, line) => {
      expect(withoutOlderPushes([{ ...copy }], [copy, line])).toEqual([line]);
    },
  );
  it('keeps pushes of other orgs and records of other kinds', () => {
    const [other, pause] = [push('blocked', 1, 'org_b'), change(true)];
    expect(withoutOlderPushes([other, pause], [blocked, allowed])).toEqual([other, pause, allowed]);
  });
});
