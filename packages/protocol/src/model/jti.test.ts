import { expect, it } from 'vitest';
import { isJti } from './jti.ts';

it.each(['a'.repeat(22), 'Z'.repeat(64), 'abcdefghijklmnopqrstu-_', '0'.repeat(43)])(
  'isJti accepts %s',
  (text) => {
    expect(isJti(text)).toBe(true);
  },
);

it.each([
  '',
  'a'.repeat(21),
  'a'.repeat(65),
  `${'a'.repeat(22)}\n`,
  `${'a'.repeat(22)}=`,
  `${'a'.repeat(22)}+`,
  `é${'a'.repeat(22)}`,
])('isJti refuses %j', (text) => {
  expect(isJti(text)).toBe(false);
});
