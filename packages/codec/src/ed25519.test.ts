import { Point } from '@noble/ed25519';
import { L, P, smallOrderEncodings, to32Bytes, torsionPoints } from '@svc/testkit/edwards';
import { describe, expect, it } from 'vitest';
import { isStrictPublicKey, isStrictSignatureForm } from './ed25519.ts';

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
