import { expect, it } from 'vitest';
import { isJsonObject, member } from './json.ts';

it('member() returns own members only, and isJsonObject refuses null, arrays and scalars', () => {
  const object = JSON.parse('{"a":1,"__proto__":2}');
  expect(['a', '__proto__', 'toString', 'b'].map((name) => member(object, name))).toEqual([
    1,
    2,
    undefined,
    undefined,
  ]);
  expect([{}, object, null, [], 'a', 1, true].map(isJsonObject)).toEqual([
    true,
    true,
    ...Array(5).fill(false),
  ]);
});
