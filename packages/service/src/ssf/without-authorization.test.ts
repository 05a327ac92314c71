import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutAuthorization } from './without-authorization.ts';

const MARK = '[authorization]';

describe('withoutAuthorization', () => {
  it.each([
    ['nothing of the header', 'the key is unknown', 'the key is unknown'],
    ['its scheme alone', 'Bearer was expected', 'Bearer was expected'],
    ['the header', 'not Bearer abcdefgh-token!', MARK],
    ['a part of the header', 'abcdefgh-token is expired', MARK],
  ])('returns a text with %s unchanged, or the mark', (_, text, kept) => {
    expect(withoutAuthorization(text, 'Bearer abcdefgh-token')).toBe(kept);
  });

  it('returns the text or the mark, and no part of the header', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'authoriz[] ='), maxLength: 40 });
    const header = fc.array(fc.oneof(letters, fc.constant('authorization')), { maxLength: 300 });
    const text = fc.array(fc.oneof(letters, fc.constantFrom(MARK, 'authorization')), { maxLength: 60 });
    fc.assert(
      fc.property(header, text, (parts, words) => {
        const said = words.join('');
        const kept = withoutAuthorization(said, parts.join(' '));
        expect([said, MARK]).toContain(kept);
        if (kept !== MARK)
          for (const part of parts.join(' ').split(/[\s,;="]+/))
            if (part.length >= 8) expect(kept).not.toContain(part);
      }),
      { numRuns: sampled({ quick: 300, deep: 3_000 }) },
    );
  });

  it('returns the mark for a header of many parts that also occur in the mark', () => {
    expect(withoutAuthorization('authorization'.repeat(60), 'authoriz [[[[[[[[ '.repeat(200))).toBe(MARK);
  });
});
