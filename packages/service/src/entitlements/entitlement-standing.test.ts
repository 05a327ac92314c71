import type { OrgId } from '@svc/protocol';
import { expect, it } from 'vitest';
import type { EntitlementRecord } from '../ports/entitlements.ts';
import { standingOf } from './entitlement-standing.ts';

const NOW = Date.parse('2026-11-20T08:00:00Z');

const entitlement = (change: Partial<EntitlementRecord>): EntitlementRecord => ({
  orgId: 'org_01M7VZGC008Q2R7V9X1C4E6H8M' as OrgId,
  production: 'allowed',
  productionUntilMs: null,
  checkCap: null,
  capSinceMs: null,
  reason: 'past_due_grace',
  asOfMs: NOW,
  updatedAtMs: NOW,
  version: 1,
  checksSinceCap: null,
  ...change,
});
const cap = (checkCap: number, checksSinceCap: number, capSinceMs = NOW) => ({
  checkCap,
  checksSinceCap,
  capSinceMs,
});

it.each<[string, Partial<EntitlementRecord> | null, string | null]>([
  ['no row', null, 'this org has no plan'],
  ['no condition', {}, null],
  ['blocked', { production: 'blocked' }, 'production is blocked (past_due_grace)'],
  ['a millisecond before the end', { productionUntilMs: NOW + 1 }, null],
  ['at the end', { productionUntilMs: NOW }, 'production ended at 2026-11-20T08:00:00.000Z'],
  ['one check left', cap(5, 4), null],
  ['no check left', cap(5, 5), 'all 5 checks since 2026-11-20T08:00:00.000Z are used'],
  ['more used than covered', cap(5, 9), 'all 5 checks since 2026-11-20T08:00:00.000Z are used'],
  ['a cap of 0', cap(0, 0), 'all 0 checks since 2026-11-20T08:00:00.000Z are used'],
  ['a cap that begins later', cap(0, 0, NOW + 1), null],
  ['blocked and used up', { production: 'blocked', ...cap(0, 0) }, 'production is blocked (past_due_grace)'],
])('standingOf allows or blocks, with the reason: %s', (_, change, detail) => {
  const standing = standingOf(change && entitlement(change), { isComp: false, nowMs: NOW });
  expect(standing).toEqual({ effective: detail === null ? 'allowed' : 'blocked', detail });
});

it('standingOf allows everything to an org that never needs a plan', () => {
  for (const stored of [null, entitlement({ production: 'blocked', ...cap(0, 0) })])
    expect(standingOf(stored, { isComp: true, nowMs: NOW })).toEqual({
      effective: 'allowed',
      detail: 'this org never needs a plan',
    });
});
