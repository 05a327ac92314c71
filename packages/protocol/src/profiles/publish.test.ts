import { jcs } from '@svc/codec';
import { getVector } from '@svc/vectors/src/published.ts';
import { describe, expect, it } from 'vitest';
import { contextOf, factsOf } from '../../test/facts-of.ts';
import { findUnapprovable } from '../approval.ts';
import { type Check, defineCheck, demand } from '../checks/check.ts';
import { p03GrantSignature } from '../checks/p03-grant-signature.ts';
import { CHECKS, type CheckId, checksOf } from '../checks/table.ts';
import { type Decided, evaluate, evaluateUnder, parsePresented } from '../evaluate.ts';
import { nativeCrypto } from '../native.ts';
import { buildReceiptBody } from '../receipt-body.ts';
import { BASE_V1 } from './base-v1.ts';
import { BASE_V2 } from './base-v2.ts';
import { PROFILE_IDS, PROFILES } from './index.ts';
import { publish } from './publish.ts';

const P21 = 'P21' as CheckId;

/** A check that only svc-base-v2 runs. */
const newCheck = (holds: boolean): Check<CheckId, unknown> =>
  defineCheck({
    id: P21,
    title: 'the test says so',
    cites: ['interface §Grant', 'protocol §7'],
    profiles: ['svc-base-v2'],
    requires: [p03GrantSignature],
    reasons: ['GRANT_EXPIRED'],
    run: () => demand(holds, 'GRANT_EXPIRED'),
  });
const tableWith = (...more: readonly Check<CheckId, unknown>[]) => [...CHECKS.slice(0, -1), ...more];

const { input } = getVector('allow-purchase');
const request = { grant: input.grant, proof: input.proof, action: input.action };
const given = [
  parsePresented(request),
  factsOf(input, nativeCrypto),
  contextOf(input, nativeCrypto),
] as const;
const [, , context] = given;
const decided = (result: ReturnType<typeof evaluate>): Decided => {
  if (result.kind === 'undecided') throw new Error('the vector answers every look-up');
  return result;
};
const bodyOf = (one: Decided) => buildReceiptBody(request, one, context);

describe('a profile that leaves a check out', () => {
  const v1 = publish(BASE_V1, checksOf('svc-base-v1', tableWith(newCheck(false))));

  it('is published as it was before the check existed', () => {
    expect(v1.document).toBe(PROFILES['svc-base-v1'].document);
    expect(v1.hash).toBe(PROFILES['svc-base-v1'].hash);
    expect(v1.checkIds).toEqual(PROFILES['svc-base-v1'].checkIds);
  });

  it('does not run the check, and its Receipt does not name it', () => {
    const [before, now] = [decided(evaluate(...given)), decided(evaluateUnder(v1, ...given))];
    expect(now.decision).toBe('ALLOW');
    expect(now.outcomes).toEqual(before.outcomes);
    expect(JSON.stringify(bodyOf(now))).toBe(JSON.stringify(bodyOf(before)));
  });
});

describe('a profile that runs one check more', () => {
  const published = (holds: boolean) => publish(BASE_V2, checksOf('svc-base-v2', tableWith(newCheck(holds))));

  it('publishes it under a new hash, and spends no Proof before it holds', () => {
    const { hash, document } = published(true);
    expect(hash).not.toBe(PROFILES['svc-base-v2'].hash);
    const { checks } = JSON.parse(document) as { checks: { id: string; requires: string[] }[] };
    expect(checks.map(({ id }) => id).slice(-2)).toEqual(['P21', 'T5']);
    expect(checks.at(-1)?.requires).toEqual(checks.slice(0, -1).map(({ id }) => id));
  });

  it.each([
    [true, 'ALLOW', null, 'PASS'],
    [false, 'DENY', 'GRANT_EXPIRED', 'FAIL'],
  ] as const)('decides by it: %s gives %s', (holds, decision, reason, result) => {
    const one = decided(evaluateUnder(published(holds), ...given));
    expect(one).toMatchObject({ decision, reason, outcomes: { P21: holds, T5: holds || 'skipped' } });
    const body = bodyOf(one);
    expect(body.protocol).toMatchObject({ result, profile: 'svc-base-v2', checks: { P21: holds } });
    expect(Object.keys(body.protocol.checks)).toHaveLength(21);
    expect(JSON.stringify(body)).toBe(jcs(JSON.parse(JSON.stringify(body))));
  });
});

describe('an outcome that is missing', () => {
  it.each(PROFILES['svc-base-v1'].checkIds)('of %s is never taken as passed', (id) => {
    const one = decided(evaluate(...given));
    const { [id]: _, ...outcomes } = one.outcomes;
    const { protocol, trust } = bodyOf({ ...one, outcomes });
    const group = id.startsWith('P') ? protocol : trust;
    expect(group).toMatchObject({ result: 'FAIL', checks: { [id]: 'skipped' } });
    const denied = { ...one.outcomes, P19: false, P20: 'skipped', T5: 'skipped' } as const;
    const { [id]: __, ...incomplete } = denied;
    expect(findUnapprovable(denied, 'svc-base-v1')).toBeNull();
    if (!['P16', 'P17', 'P18', 'P20'].includes(id))
      expect(findUnapprovable(incomplete, 'svc-base-v1')).not.toBeNull();
  });
});

it('a check that requires one which its profile leaves out is skipped, and nothing is allowed', () => {
  const dependent = { ...newCheck(true), id: 'P22' as CheckId, profiles: null, requires: [P21] };
  const v1 = publish(BASE_V1, checksOf('svc-base-v1', tableWith(newCheck(true), dependent)));
  expect(evaluateUnder(v1, ...given)).toMatchObject({
    ...{ decision: 'DENY', reason: 'SERVICE_UNAVAILABLE' },
    outcomes: { P20: true, P22: 'skipped', T5: 'skipped' },
  });
});

it('each profile has all checks that its checks require, and P20 if it has budgets', () => {
  expect(Object.keys(PROFILES)).toEqual(PROFILE_IDS);
  for (const id of PROFILE_IDS) {
    const { profile, checks, checkIds, protocolChecks, trustChecks } = PROFILES[id];
    expect(profile.id).toBe(id);
    // P20 gives what an ALLOW consumes: without it a profile with budgets would allow and consume nothing.
    if (profile.budgets) expect(checkIds).toContain('P20');
    for (const [i, { requires }] of checks.entries())
      for (const required of requires) expect(checkIds.slice(0, i)).toContain(required);
    expect([...protocolChecks.ids, ...trustChecks.ids].sort()).toEqual([...checkIds].sort());
  }
});
