import { expect, it } from 'vitest';
import { REASON_CODES, REASON_TEXTS } from './reason-code.ts';

it('each reason code has a text of its own, which is a sentence', () => {
  expect(Object.keys(REASON_TEXTS).sort()).toEqual([...REASON_CODES].sort());
  const texts = Object.values(REASON_TEXTS);
  for (const text of texts) expect(text).toMatch(/^[A-Z].{15,}\.$/s);
  expect(new Set(texts).size).toBe(texts.length);
});
