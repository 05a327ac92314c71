import { readFileSync } from 'node:fs';
import { outcomeOf } from '@svc/vectors/src/evaluate-vectors.ts';
import { readEvaluateVectors } from '@svc/vectors/src/published.ts';
import { describe, expect, it } from 'vitest';
import { PROTOCOL_REASONS, RESERVED_REASONS, TRUST_REASONS } from '../model/reason-code.ts';
import { PROFILE_IDS, PROFILES } from '../profiles/index.ts';
import { CHECK_IDS, CHECKS, type CheckId } from './table.ts';

const vectors = readEvaluateVectors();

describe('the table of checks', () => {
  it('lets a check require only earlier checks, and the last check require all others', () => {
    for (const [i, { requires }] of CHECKS.entries())
      for (const required of requires) expect(CHECK_IDS.slice(0, i)).toContain(required);
    expect(CHECKS.at(-1)?.requires).toEqual(CHECK_IDS.slice(0, -1));
    expect(new Set(CHECK_IDS).size).toBe(CHECKS.length);
  });

  it('cites for each check the interface and an existing section of docs/protocol.md', () => {
    const page = readFileSync(new URL('../../../../docs/protocol.md', import.meta.url), 'utf8');
    const sections = new Set([...page.matchAll(/^## (\d+)\. /gm)].map(([, number]) => `protocol §${number}`));
    for (const { cites } of CHECKS) {
      expect(cites.some((source) => source.startsWith('interface §'))).toBe(true);
      const own = cites.filter((source) => source.startsWith('protocol §'));
      expect(own).not.toHaveLength(0);
      for (const source of own) expect(sections).toContain(source);
    }
  });

  it('declares each reason once, except the reserved ones and SERVICE_UNAVAILABLE', () => {
    const declared = CHECKS.flatMap(({ reasons }) => reasons).sort();
    const expected = [...PROTOCOL_REASONS, ...TRUST_REASONS].filter((code) => code !== 'SERVICE_UNAVAILABLE');
    expect(declared).toEqual(expected.sort());
    for (const reserved of RESERVED_REASONS) expect(declared).not.toContain(reserved);
  });

  it('lists the reasons of P1 in order of precedence', () => {
    expect(CHECKS[0]?.reasons).toEqual(['GRANT_MALFORMED', 'UNSUPPORTED_FEATURE']);
  });
});

describe('the vectors', () => {
  const covering = (id: CheckId, outcome: boolean | 'skipped') =>
    vectors.filter(
      ({ covers, expected }) => covers[id] === outcome && outcomeOf(expected.body, id) === outcome,
    );

  it.each(CHECKS)(
    'cover $id with true, with false and, if it requires other checks, with skipped',
    ({ id, requires }) => {
      expect(covering(id, true)).not.toHaveLength(0);
      expect(covering(id, false)).not.toHaveLength(0);
      if (requires.length > 0) expect(covering(id, 'skipped')).not.toHaveLength(0);
    },
  );

  it.each(CHECKS.flatMap(({ id, reasons }) => reasons.map((reason) => ({ id, reason }))))(
    'cover $reason as the reason of a failed $id',
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
  ])('cover %s with the outcome %s', (id, outcome) => {
    expect(underV2.some(({ expected }) => outcomeOf(expected.body, id) === outcome)).toBe(true);
  });
});

describe('the published profiles', () => {
  // The hash covers every check with its place, title, requirements and reasons.
  it('keep their hashes', () => {
    expect(Object.fromEntries(PROFILE_IDS.map((id) => [id, PROFILES[id].hash]))).toEqual({
      'svc-base-v1': 'sha256:0975a6dc1ec391b4d27271459c10281b9436849c527bd0519abab4d8e339aec2',
      'svc-base-v2': 'sha256:752ae3be25a7f0b9531efa9da92b7620f359b25dd88b9371100e5546ed415b96',
    });
  });

  it('differ only in what svc-base-v2 says about budgets', () => {
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
