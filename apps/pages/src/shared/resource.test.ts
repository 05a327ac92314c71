import { expect, it } from 'vitest';
import { visible } from './resource.tsx';

it.each([
  ['order/\u202e00.5 DSU', 'order/\\u{202e}00.5 DSU'],
  ['x\u200by', 'x\\u{200b}y'],
  [' ', '\\u{20}'],
  ['a  b ', 'a\\u{20} b\\u{20}'],
  ['a\u00a0b\n', 'a\\u{a0}b\\u{a}'],
  ['\ud800', '\\u{d800}'],
])('what is not seen in a stranger’s text is shown by its number: %j', (text, shown) =>
  expect(visible(text)).toBe(shown),
);

it('all else is shown as it is, in whatever language', () => {
  for (const text of ['order/7', 'café crème', 'заказ/7', '注文/7', 'नमस्ते']) expect(visible(text)).toBe(text);
});
