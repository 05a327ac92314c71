import { type CheckId, PROFILE_IDS, PROFILES } from '@svc/protocol';
import { expect, it } from 'vitest';
import { checksWithout, doOthersHold } from './evaluate.ts';

const ON_BALANCES = ['P19', 'P20', 'T5'];
const OF_THE_GRANT = [
  ...['P1', 'T1', 'T2', 'T3', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7'],
  ...['P15', 'P16', 'P17', 'P18', 'P19', 'P20'],
];

it.each(PROFILE_IDS)('the others hold under %s if each check does that depends on no balance', (id) => {
  const under = PROFILES[id];
  const others = under.checkIds.filter((check) => !ON_BALANCES.includes(check));
  const outcomes = Object.fromEntries(others.map((check) => [check, true]));
  expect(doOthersHold({ under, outcomes })).toBe(true);
  for (const check of others) {
    for (const outcome of [false, 'skipped'] as const)
      expect(doOthersHold({ under, outcomes: { ...outcomes, [check]: outcome } }), check).toBe(false);
    const { [check]: _, ...incomplete } = outcomes;
    expect(doOthersHold({ under, outcomes: incomplete }), check).toBe(false);
  }
});

it('the checks without the Proof are those of the Grant and the Action, also of a profile that runs more', () => {
  const [v1, p3] = [PROFILES['svc-base-v1'], PROFILES['svc-base-v1'].checks.find(({ id }) => id === 'P3')];
  if (p3 === undefined) throw new Error('P3');
  expect(checksWithout(v1, 'P8')).toEqual(OF_THE_GRANT);
  const more = (id: string, requires: readonly CheckId[]) => ({ ...p3, id: id as CheckId, requires });
  const checks = [
    ...v1.checks,
    more('P21', ['P3']),
    more('P22', ['P3', 'P10']),
    more('P23', ['P22' as CheckId]),
  ];
  expect(checksWithout({ ...v1, checks }, 'P8')).toEqual([...OF_THE_GRANT, 'P21']);
});
