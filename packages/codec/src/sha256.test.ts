import { expect, it } from 'vitest';
import { portableCrypto } from './crypto.ts';
import { isSha256, sha256Of } from './sha256.ts';

it('sha256Of writes the one form of a hash that isSha256 accepts', () => {
  const hash = sha256Of(portableCrypto, 'abc');
  expect(hash).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(isSha256(hash)).toBe(true);
  const others = [
    hash.toUpperCase(),
    `${hash}0`,
    hash.slice(0, -1),
    hash.slice(7),
    ` ${hash}`,
    '',
    [hash],
    null,
    7,
  ];
  expect(others.filter(isSha256)).toEqual([]);
});
