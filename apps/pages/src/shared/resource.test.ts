import { expect, it } from 'vitest';
import { visible, visibleLines } from './resource.tsx';

it.each([
  ['order/\u202e00.5 DSU', 'order/\\u{202e}00.5 DSU'],
  ['x\u200by', 'x\\u{200b}y'],
  [' ', '\\u{20}'],
  ['a  b ', 'a\\u{20} b\\u{20}'],
  ['a\u00a0b\n', 'a\\u{a0}b\\u{a}'],
  ['\ud800', '\\u{d800}'],
  ['order/7\u2800of two', 'order/7\\u{2800}of two'],
])('invisible and ambiguous characters in foreign text are shown as code points: %j', (text, shown) =>
  expect(visible(text)).toBe(shown),
);

it('visibleLines keeps line breaks and spaces', () =>
  expect(visibleLines('{\n  "a\u2800\u00a0":\t1 }\n')).toBe('{\n  "a\\u{2800}\\u{a0}":\\u{9}1 }\n'));

it('other text is shown unchanged in any language', () => {
  for (const text of ['order/7', 'café crème', 'заказ/7', '注文/7', 'नमस्ते']) expect(visible(text)).toBe(text);
});
