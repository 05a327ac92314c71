import { describe, expect, it } from 'vitest';
import { effectiveState, stateAfterCheck } from './verification-state.ts';

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;
const hosted = (verificationState: 'verified' | 'unverified', provenHoursAgo: number | null) => ({
  kind: 'hosted' as const,
  verificationState,
  lastProvenMs: provenHoursAgo === null ? null : NOW - provenHoursAgo * HOUR,
});

describe('the state after a check', () => {
  it.each([
    ['proven', 'unverified', null, 'verified'],
    ['proven', 'verified', 100, 'verified'],
    ['absent', 'verified', 1, 'unverified'],
    ['absent', 'unverified', null, 'unverified'],
    ['unknown', 'verified', 72, 'verified'],
    ['unknown', 'verified', 72.001, 'unverified'],
    ['unknown', 'verified', null, 'unverified'],
    ['unknown', 'unverified', 1, 'unverified'],
  ] as const)(
    'with outcome %s, in state %s and last proven %s h ago is %s',
    (outcome, state, provenHoursAgo, after) => {
      expect(stateAfterCheck(hosted(state, provenHoursAgo), outcome, NOW)).toBe(after);
    },
  );
});

describe('the state that decisions use', () => {
  it('lapses 72 h after the last proof', () => {
    expect(effectiveState(hosted('verified', 72), NOW)).toBe('verified');
    expect(effectiveState(hosted('verified', 72.001), NOW)).toBe('unverified');
    expect(effectiveState(hosted('verified', null), NOW)).toBe('unverified');
  });

  it('never lapses for a managed Principal', () => {
    expect(effectiveState({ ...hosted('verified', null), kind: 'managed' }, NOW)).toBe('verified');
  });
});
