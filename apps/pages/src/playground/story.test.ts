import { REASON_TEXTS } from '@svc/protocol';
import { expect, it } from 'vitest';
import { whyDenied } from './story.ts';

it('a used-up budget and an amount above the limit get different explanations', () => {
  expect(whyDenied('AMOUNT_EXCEEDS_AUTHORITY', true)).toMatch(/^Too little is left of the budget/);
  expect(whyDenied('AMOUNT_EXCEEDS_AUTHORITY', false)).toMatch(/^The amount is above/);
  expect(whyDenied('PROOF_REPLAYED', true)).toBe(REASON_TEXTS.PROOF_REPLAYED);
});
