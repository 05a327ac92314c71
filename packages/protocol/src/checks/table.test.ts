import { describe, expect, it } from 'vitest';
import { outcomeOf } from '../../../../scripts/vectors/evaluate-vectors.ts';
import { readEvaluateVectors } from '../../test/vector-reader.ts';
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

describe('the published profile', () => {
  it('is pinned: another hash is another profile', () => {
    expect(PROFILES['svc-base-v1'].hash).toBe(
      'sha256:5f9de5299c5a12702418fdd6410521928d41780ff72c884c97229ac2e8f50950',
    );
  });
});
