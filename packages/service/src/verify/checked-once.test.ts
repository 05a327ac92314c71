import type { CryptoPort } from '@svc/protocol';
import { expect, it } from 'vitest';
import { checkedOnce } from './checked-once.ts';

const counting = () => {
  const asked: string[] = [];
  const crypto = {
    sha256Hex: () => '',
    isStrictKey: () => true,
    verify: (key: Uint8Array, message: string, signature: Uint8Array) => {
      asked.push(message);
      return key[0] === signature[0];
    },
  } as unknown as CryptoPort;
  return { asked, once: checkedOnce(crypto) };
};
const bytes = (...values: number[]) => Uint8Array.from(values);

it('a signature is checked once, whatever came of it', () => {
  const { asked, once } = counting();
  const verify = () => [once.verify(bytes(1), 'a', bytes(1)), once.verify(bytes(1), 'b', bytes(2))];
  expect([verify(), verify()]).toEqual([
    [true, false],
    [true, false],
  ]);
  expect(asked).toEqual(['a', 'b']);
});

it('another key or another signature over the same text is another question', () => {
  const { asked, once } = counting();
  expect(once.verify(bytes(1), 'a', bytes(1))).toBe(true);
  expect(once.verify(bytes(2), 'a', bytes(1))).toBe(false);
  expect(once.verify(bytes(2), 'a', bytes(2))).toBe(true);
  expect(once.verify(bytes(2), 'a', bytes(2, 0))).toBe(true);
  expect(asked).toHaveLength(4);
});
