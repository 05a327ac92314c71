import { type CryptoPort, type Presented, portableCrypto } from '@svc/protocol';
import { expect, it } from 'vitest';
import { checkedOnce, GrantSignatureMemo } from './signatures.ts';

const presented = (signingInput: string) =>
  ({ grant: { ok: true, value: { signingInput } } }) as unknown as Presented;
const bytes = (value: number, length: number) => new Uint8Array(length).fill(value);

it('remembers a Grant only under the whole key, the whole text and the whole signature that verified', () => {
  const asked: string[] = [];
  const crypto: CryptoPort = {
    ...portableCrypto,
    verify: (key, message, signature) => {
      asked.push(`${key[0]} ${message} ${signature[0]}`);
      return key[0] === 1 && message === 'a.b' && signature[0] === 9;
    },
  };
  const memo = new GrantSignatureMemo(crypto);
  const verify = (key: number, text: string, signature: number) =>
    memo.cryptoFor(presented(text)).verify(bytes(key, 32), text, bytes(signature, 64));
  expect([verify(1, 'a.b', 9), verify(1, 'a.b', 9)]).toEqual([true, true]);
  expect(asked).toEqual(['1 a.b 9']);
  expect([verify(2, 'a.b', 9), verify(1, 'a.c', 9), verify(1, 'a.b', 8)]).toEqual([false, false, false]);
  expect([verify(1, 'a.b', 8), verify(1, 'a.b', 8)]).toEqual([false, false]);
  expect(asked.filter((one) => one === '1 a.b 8')).toHaveLength(3);
});

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
const of = (...values: number[]) => Uint8Array.from(values);

it('a signature is checked once, whatever came of it', () => {
  const { asked, once } = counting();
  const verify = () => [once.verify(of(1), 'a', of(1)), once.verify(of(1), 'b', of(2))];
  expect([verify(), verify()]).toEqual([
    [true, false],
    [true, false],
  ]);
  expect(asked).toEqual(['a', 'b']);
});

it('another key or another signature over the same text is another question', () => {
  const { asked, once } = counting();
  expect(once.verify(of(1), 'a', of(1))).toBe(true);
  expect(once.verify(of(2), 'a', of(1))).toBe(false);
  expect(once.verify(of(2), 'a', of(2))).toBe(true);
  expect(once.verify(of(2), 'a', of(2, 0))).toBe(true);
  expect(asked).toHaveLength(4);
});
