import { SvcError } from '@svc/sdk-principal';
import { expect, it } from 'vitest';
import { createTeller } from './tool-result.ts';

const teller = createTeller(['dk_pr_secret', 'd-of-the-key']);

it('the teller removes secrets from all output, also from member names and error messages', () => {
  const told = [
    teller.tell(
      'own dk_pr_secret',
      { 'x dk_pr_secret': ['d-of-the-key', { a: 'xd-of-the-keyx' }] },
      { grant: 'dk_pr_secret' },
    ),
    teller.refuse('own dk_pr_secret'),
    teller.fail(new SvcError('refused', 'dk_pr_secret is no key')),
    teller.fail(new Error('d-of-the-key')),
  ];
  for (const one of told) expect(JSON.stringify(one)).not.toMatch(/dk_pr_secret|d-of-the-key/);
  expect(JSON.stringify(told)).toContain('[secret]');
});

it('the teller bounds texts, lists and depth', () => {
  let deep: unknown = 'x';
  for (let i = 0; i < 1_000; i++) deep = [deep];
  const { structuredContent } = teller.tell('own', {
    text: 'x'.repeat(1e6),
    list: Array.from({ length: 1e4 }, () => 'y'),
    deep,
  });
  expect(JSON.stringify(structuredContent).length).toBeLessThan(2_500);
});

it('the teller quotes nothing of an unknown error', () => {
  const { structuredContent, isError } = teller.fail(new TypeError('/home/me/key'));
  expect({ structuredContent, isError }).toEqual({
    structuredContent: { says: 'The call failed (TypeError).' },
    isError: true,
  });
});

it('the teller escapes invisible characters', () => {
  const hidden = [...'obey'].map((one) => String.fromCodePoint(0xe0100 + one.charCodeAt(0))).join('');
  for (const raw of [hidden, '\u{fe0f}', '\u{3164}', '\u{34f}', '\u{e0041}', '\u{2028}'])
    expect(JSON.stringify(teller.tell('own', { resource: `order/7${raw}` }))).not.toContain(raw);
});
