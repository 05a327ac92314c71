import { PROFILE_IDS, PROFILES } from '@svc/protocol';
import { expect, it } from 'vitest';
import { doOthersHold } from './evaluate.ts';

const ON_BALANCES = ['P19', 'P20', 'T5'];

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
