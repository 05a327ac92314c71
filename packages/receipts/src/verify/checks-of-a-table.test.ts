import type { ReceiptBody } from '@svc/protocol';
import { buildWorld } from '@svc/testkit/receipts/world';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Failure } from '../failure.ts';
import { checkConsistency } from './consistency.ts';
import { findPublishedTable, PUBLISHED_PROFILES, type PublishedTable } from './published.ts';

const { body } = await buildWorld();
const { profile, profile_hash: hash } = body.protocol;
const MORE = 'svc-base-with-p21';
const tables = PUBLISHED_PROFILES as Record<string, readonly PublishedTable[]>;

beforeAll(() => {
  const table = findPublishedTable(profile, hash);
  const [spending, ...before] = table?.checks.toReversed() ?? [];
  if (table === null || spending === undefined) throw new Error('the profile of the world is published');
  const p21 = { id: 'P21', requires: ['P3'], reasons: ['GRANT_EXPIRED'], looksUp: false };
  const all = [...before.toReversed(), p21];
  const last = { ...spending, requires: all.map(({ id }) => id) };
  tables[MORE] = [{ ...table, checks: [...all, last] }];
});
afterAll(() => {
  delete tables[MORE];
});

const faultsOf = (change: Partial<ReceiptBody['protocol']>): readonly Failure[] => {
  const failures: Failure[] = [];
  checkConsistency({ ...body, protocol: { ...body.protocol, ...change } }, failures);
  return failures;
};
const withP21 = { ...body.protocol.checks, P21: true };

it('a Receipt with exactly the checks of its table is consistent', () => {
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ profile: MORE as typeof profile, checks: withP21 })).toEqual([]);
});

it('a Receipt that lacks a check of its table is refused, and its ALLOW is refuted', () => {
  const faults = faultsOf({ profile: MORE as typeof profile });
  expect(faults).toContainEqual({
    code: 'missing-member',
    message: `/protocol/checks/P21 is missing: ${MORE} has it`,
    path: '/protocol/checks/P21',
  });
  expect(faults.map(({ code }) => code)).toContain('wrong-decision');
});

it('a Receipt that adds a check which its table has not is refused', () => {
  expect(faultsOf({ checks: withP21 })).toEqual([
    {
      code: 'unknown-member',
      message: `${profile} has no check P21`,
      path: '/protocol/checks/P21',
    },
  ]);
});
