import { Point } from '@noble/ed25519';
import { L, P, smallOrderEncodings, to32Bytes, torsionPoints } from '@svc/testkit/edwards';
import { describe, expect, it, vi } from 'vitest';
import { isStrictPublicKey, isStrictSignatureForm, KeyMemo } from './ed25519.ts';

const SIGN_BIT = 1n << 255n;
const base = Point.BASE.toBytes();
const signature = (r: Uint8Array, s: bigint): Uint8Array => new Uint8Array([...r, ...to32Bytes(s)]);
const hasStrictForm = (r: bigint): boolean => isStrictSignatureForm(signature(to32Bytes(r), 1n));

describe('isStrictSignatureForm', () => {
  it('requires S below the order of the group', () => {
    for (const s of [0n, 1n, L - (1n << 8n), L - 1n])
      expect(isStrictSignatureForm(signature(base, s))).toBe(true);
    for (const s of [L, L + 1n, L + (1n << 8n), 2n * L, SIGN_BIT + 1n, (1n << 256n) - 1n])
      expect(isStrictSignatureForm(signature(base, s))).toBe(false);
  });

  it('requires 64 bytes', () => {
    const whole = signature(base, 1n);
    expect(isStrictSignatureForm(whole.subarray(0, 63))).toBe(false);
    expect(isStrictSignatureForm(new Uint8Array([...whole, 0]))).toBe(false);
    expect(isStrictSignatureForm(new Uint8Array())).toBe(false);
  });

  it('requires an R whose y is below p, for either sign', () => {
    // p − 1 is of small order; p − 2 is the greatest y that is not. Each value that differs from p in one byte is below
    // p.
    const below = [
      2n,
      255n,
      256n,
      P - 2n,
      P - 256n,
      ...[8, 16, 128, 240, 247].map((bit) => P - 2n - (1n << BigInt(bit))),
    ];
    for (const y of below) {
      expect(hasStrictForm(y)).toBe(true);
      expect(hasStrictForm(y + SIGN_BIT)).toBe(true);
    }
    for (const y of [P, P + 1n, P + 3n, P + 18n]) {
      expect(hasStrictForm(y)).toBe(false);
      expect(hasStrictForm(y + SIGN_BIT)).toBe(false);
    }
  });

  it('refuses every encoding of an R of small order, and accepts one that differs in a single byte', () => {
    for (const encoding of smallOrderEncodings()) {
      expect(isStrictSignatureForm(signature(encoding, 1n))).toBe(false);
      for (const place of [1, 15, 30, 31]) {
        const other = new Uint8Array(encoding);
        other[place] = (other[place] ?? 0) ^ 0x10;
        expect(isStrictSignatureForm(signature(other, 1n))).toBe(true);
      }
    }
  });
});

describe('isStrictPublicKey', () => {
  it('requires 32 bytes', () => {
    expect(isStrictPublicKey(base)).toBe(true);
    expect(isStrictPublicKey(base.subarray(0, 31))).toBe(false);
    expect(isStrictPublicKey(new Uint8Array([...base, 0]))).toBe(false);
  });

  it('refuses a key with a torsion component, also on a repeated call', () => {
    for (const torsion of torsionPoints) {
      const key = Point.BASE.add(torsion).toBytes();
      const isPure = torsion.equals(Point.ZERO);
      expect(isStrictPublicKey(key)).toBe(isPure);
      expect(isStrictPublicKey(key)).toBe(isPure);
      expect(isStrictPublicKey(torsion.toBytes())).toBe(false);
    }
  });
});

describe('KeyMemo', () => {
  it('calls `admit` once for each key of 32 bytes, whatever its verdict, and never for another length', () => {
    const admit = vi.fn((key: Uint8Array) => (key[0] === 2 ? 'admitted' : null));
    const keys = new KeyMemo(admit);
    const [admitted, refused] = [to32Bytes(2n), to32Bytes(3n)];
    expect([keys.find(admitted), keys.find(admitted)]).toEqual(['admitted', 'admitted']);
    expect(admit).toHaveBeenCalledTimes(1);
    expect([keys.find(refused), keys.find(refused)]).toEqual([null, null]);
    expect(admit).toHaveBeenCalledTimes(2);
    expect([keys.find(admitted.subarray(0, 31)), keys.find(new Uint8Array([...admitted, 0]))]).toEqual([
      null,
      null,
    ]);
    expect(admit).toHaveBeenCalledTimes(2);
  });

  it('keeps an admitted key however many keys are refused after it', () => {
    const keyOf = (number: number): Uint8Array =>
      Uint8Array.of(number >> 8, number & 255, ...new Uint8Array(30));
    const admit = vi.fn((key: Uint8Array) => (key[0] === 255 ? 'admitted' : null));
    const keys = new KeyMemo(admit);
    const admitted = keyOf(255 << 8);
    keys.find(admitted);
    for (let number = 0; number < 10_000; number++) keys.find(keyOf(number));
    admit.mockClear();
    expect(keys.find(admitted)).toBe('admitted');
    expect(admit).not.toHaveBeenCalled();
  });
});
