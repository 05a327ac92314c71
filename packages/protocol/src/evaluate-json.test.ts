import { portableCrypto } from '@svc/codec';
import { getVector } from '@svc/vectors/src/published.ts';
import { describe, expect, it } from 'vitest';
import { EvaluateInputError, evaluateJson } from './evaluate-json.ts';

const input = getVector('allow-purchase').input as unknown as Record<string, unknown>;
const facts = input.facts as Record<string, unknown>;
const withFact = (name: string, value: unknown) => ({ ...input, facts: { ...facts, [name]: value } });

describe('an evaluation input', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['an array', [input]],
    ['without facts', { ...input, facts: undefined }],
    ['with a Grant that is not a string', { ...input, grant: {} }],
    ['with a Receipt id of another form', { ...input, receipt_id: 'drc_1' }],
    ['with an instant that is not in UTC', { ...input, now: '2026-11-20T10:00:00+01:00' }],
    ['evaluated on 30 February', { ...input, now: '2026-02-30T08:00:00.000Z' }],
    ['evaluated at 24:00', { ...input, now: '2026-11-20T24:00:00Z' }],
    [
      'with a key known since 30 February',
      withFact('principal', {
        found: { verification: 'verified', key: { state: 'active', since: '2026-02-30T00:00:00Z' } },
      }),
    ],
    [
      'with an unknown profile',
      { ...input, relying_party: { ...Object(input.relying_party), profile: 'x' } },
    ],
    [
      'with a profile named like a member of every object',
      {
        ...input,
        relying_party: { ...Object(input.relying_party), profile: 'constructor' },
      },
    ],
    ['with an unanswered look-up', withFact('spent', undefined)],
    ['with another answer', withFact('spent', 'maybe')],
    ['with a found answer of another form', withFact('spent', { found: 'no' })],
    ['with a status of another form', withFact('status', { found: {} })],
    [
      'with a key in another state',
      withFact('principal', { found: { verification: 'verified', key: { state: 'x' } } }),
    ],
  ])('%s throws an EvaluateInputError', (_, unusable) => {
    expect(() => evaluateJson(unusable, portableCrypto)).toThrow(EvaluateInputError);
  });

  it('with a malformed Action gives a DENY with ACTION_MALFORMED', () => {
    for (const action of [undefined, null, 0, 'x', [], {}, { toString: 1 }])
      expect(evaluateJson({ ...input, action }, portableCrypto).reason).toBe('ACTION_MALFORMED');
  });
});
