import { outcomeOf } from '@svc/vectors/src/evaluate-vectors.ts';
import { readEvaluateVectors } from '@svc/vectors/src/published.ts';
import { describe, expect, it } from 'vitest';
import { PROTOCOL_REASONS, RESERVED_REASONS, TRUST_REASONS } from '../model/reason-code.ts';
import { PROFILES } from '../profiles/index.ts';
import type { CheckId } from './check.ts';
import { CHECK_IDS, CHECKS } from './table.ts';

const vectors = readEvaluateVectors();

describe('the table of checks', () => {
  it('has P1–P20, T1, T2, T3 and T5 in pipeline order', () => {
    expect(CHECK_IDS.join(' ')).toBe(
      'P1 T1 T2 T3 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11 P12 P13 P15 P14 P16 P17 P18 P19 P20 T5',
    );
  });

  it('requires what the protocol says, and only checks that come before', () => {
    const requirements = Object.fromEntries(CHECKS.map(({ id, requires }) => [id, requires.join(' ')]));
    const { T5: everythingElse, ...rest } = requirements;
    expect(rest).toEqual({
      ...{ P1: '', T1: 'P1', T2: 'T1', T3: 'T1', P2: 'P1 T1 T3', P3: 'P2', P4: 'P3', P5: 'P3', P6: 'P3' },
      ...{ P7: 'P3', P8: '', P9: 'P8', P10: 'P3 P9', P11: 'P3 P9', P12: 'P9', P13: 'P9', P15: '' },
      ...{ P14: 'P9 P15', P16: 'P3 P15', P17: 'P16', P18: 'P17', P19: 'P18', P20: 'P19' },
    });
    expect(everythingElse).toBe(CHECK_IDS.slice(0, -1).join(' '));
    for (const [i, { requires }] of CHECKS.entries())
      for (const required of requires) expect(CHECK_IDS.indexOf(required)).toBeLessThan(i);
  });

  it('declares every reason but the reserved ones and the one for what is unavailable, each once', () => {
    const declared = CHECKS.flatMap(({ reasons }) => reasons).sort();
    const expected = [...PROTOCOL_REASONS, ...TRUST_REASONS].filter((code) => code !== 'SERVICE_UNAVAILABLE');
    expect(declared).toEqual(expected.sort());
    for (const reserved of RESERVED_REASONS) expect(declared).not.toContain(reserved);
  });

  it('has the reasons of P1 in the order in which they win', () => {
    expect(CHECKS[0]?.reasons).toEqual(['GRANT_MALFORMED', 'UNSUPPORTED_FEATURE']);
  });
});

describe('the vectors', () => {
  const covering = (id: CheckId, outcome: boolean | 'skipped') =>
    vectors.filter(
      ({ covers, expected }) => covers[id] === outcome && outcomeOf(expected.body, id) === outcome,
    );

  it.each(CHECKS)('show $id true, false and, if it requires anything, skipped', ({ id, requires }) => {
    expect(covering(id, true)).not.toHaveLength(0);
    expect(covering(id, false)).not.toHaveLength(0);
    if (requires.length > 0) expect(covering(id, 'skipped')).not.toHaveLength(0);
  });

  it.each(CHECKS.flatMap(({ id, reasons }) => reasons.map((reason) => ({ id, reason }))))(
    'give $reason for $id false',
    ({ id, reason }) => {
      const given = covering(id, false).filter(({ expected }) => expected.reason === reason);
      expect(given).not.toHaveLength(0);
    },
  );

  it('give every reason that is not reserved, and no other', () => {
    const given = new Set(vectors.map(({ expected }) => expected.reason));
    expect([...given].sort()).toEqual([null, ...PROTOCOL_REASONS, ...TRUST_REASONS].sort());
  });
});

describe('the vectors under svc-base-v2', () => {
  const underV2 = vectors.filter(({ input }) => input.relying_party.profile === 'svc-base-v2');

  it.each<[CheckId, boolean | 'skipped']>([
    ['P1', true],
    ['P1', false],
    ['P17', true],
    ['P17', false],
    ['P17', 'skipped'],
    ['P19', true],
    ['P19', false],
    ['P19', 'skipped'],
    ['P20', true],
    ['P20', false],
    ['P20', 'skipped'],
    ['T5', true],
    ['T5', false],
    ['T5', 'skipped'],
  ])('show %s %s', (id, outcome) => {
    expect(underV2.some(({ expected }) => outcomeOf(expected.body, id) === outcome)).toBe(true);
  });
});

describe('a published profile', () => {
  it.each([
    ['svc-base-v1', 'sha256:5f9de5299c5a12702418fdd6410521928d41780ff72c884c97229ac2e8f50950'],
    ['svc-base-v2', 'sha256:6177b922e8dd4dd844ff6a0d3235660ce3a3ed62e59858051a1de5096dc9fd05'],
  ] as const)('is pinned: %s under another hash is another profile', (id, hash) => {
    expect(PROFILES[id].hash).toBe(hash);
  });

  it('of svc-base-v2 differs from svc-base-v1 in what it says about budgets alone', () => {
    const [v1, v2] = (['svc-base-v1', 'svc-base-v2'] as const).map((id) => JSON.parse(PROFILES[id].document));
    const p19 = v2.checks.find(({ id }: { id: string }) => id === 'P19');
    expect(p19.title).toMatch(/budget/);
    p19.title = v1.checks.find(({ id }: { id: string }) => id === 'P19').title;
    const { constraint_keys: keys, profile, periods } = v2;
    expect(v2).toEqual({ ...v1, constraint_keys: keys, profile, periods });
    expect(keys).toEqual({
      'commerce:purchase': ['maxAmount', 'currency', 'maxTotal', 'maxPerPeriod', 'period', 'maxUses'],
      'api:call': ['methods', 'maxUses'],
    });
    expect(periods).toEqual(['hour', 'day', 'week', 'month']);
  });
});
