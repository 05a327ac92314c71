import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { Point } from '@noble/ed25519';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import {
  addOrder,
  challenge,
  type Forge,
  forge,
  forgeUntil,
  L,
  P,
  type Signed,
  satisfiesEquation,
  smallOrderEncodings,
  to32Bytes,
  toBigInt,
  torsionPoints,
} from '@svc/testkit/edwards';
import { sampled } from '@svc/testkit/sampled';
import { readThirdPartyJson } from '@svc/vectors/src/third-party.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64url } from './base64url.ts';
import { portableCrypto } from './crypto.ts';
import { nativeCrypto, nativeCryptoBy, privateKeyOfSeed } from './native.ts';
import { sha256Of } from './sha256.ts';

/** An optional package: some platforms have no binary of it. */
const sodium = await import('sodium-native').then(
  (module) => module.default,
  () => null,
);
const natives = [
  { name: 'nativeCrypto', port: nativeCrypto },
  ...(sodium === null
    ? []
    : [
        {
          name: 'nativeCryptoBy libsodium',
          port: nativeCryptoBy({
            isPrimeOrder: (publicKey) => sodium.crypto_core_ed25519_is_valid_point(publicKey),
            holds: (publicKey, text, signature) =>
              sodium.crypto_sign_verify_detached(signature, text, publicKey),
          }),
        },
      ]),
];
const ports = [{ name: 'portableCrypto', port: portableCrypto }, ...natives];

interface WycheproofFile {
  testGroups: {
    publicKey: { pk: string };
    tests: { tcId: number; msg: string; sig: string; result: 'valid' | 'invalid' }[];
  }[];
}

const honest: Forge = { a: 0x1234_5678_9abcn, r: 0xfeed_beefn, keyTorsion: 0, nonceTorsion: 0 };
interface Rfc8032Test {
  readonly publicKey: string;
  readonly message: string;
  readonly signature: string;
}

interface CctvCase {
  readonly number: number;
  readonly key: string;
  readonly sig: string;
  readonly msg: string;
  readonly flags: readonly string[] | null;
}

interface SpeccheckCase {
  readonly message: string;
  readonly pub_key: string;
  readonly signature: string;
}

const message = new TextEncoder().encode('ship order 42');
const identity = Point.ZERO.toBytes();
const zeroScalar = new Uint8Array(32);
const verifyWith = (port: typeof portableCrypto, { publicKey, message, signature }: Signed): boolean =>
  port.verify(publicKey, message, signature);

describe.each(ports)('$name', ({ port }) => {
  it('accepts a valid signature over bytes and over the same text', () => {
    const { publicKey, signature } = forge(honest, message);
    expect(port.isStrictKey(publicKey)).toBe(true);
    expect(port.verify(publicKey, message, signature)).toBe(true);
    expect(port.verify(publicKey, 'ship order 42', signature)).toBe(true);
    expect(port.verify(publicKey, 'ship order 43', signature)).toBe(false);
  });

  it('encodes a string message as UTF-8', () => {
    const { publicKey, signature } = forge(honest, new TextEncoder().encode('Straße 😂'));
    expect(port.verify(publicKey, 'Straße 😂', signature)).toBe(true);
  });

  it('decides every Wycheproof Ed25519 case as prescribed', () => {
    const file = readThirdPartyJson<WycheproofFile>('wycheproof/ed25519_test.json');
    const cases = file.testGroups.flatMap(({ publicKey, tests }) =>
      tests.map((test) => ({ ...test, publicKey: hexToBytes(publicKey.pk) })),
    );
    expect(cases).toHaveLength(151);
    const wrong = cases.filter(
      ({ publicKey, msg, sig, result }) =>
        port.verify(publicKey, hexToBytes(msg), hexToBytes(sig)) !== (result === 'valid'),
    );
    expect(wrong.map(({ tcId }) => tcId)).toEqual([]);
  });

  it('accepts each signature of RFC 8032 §7.1, and refuses it for another message', () => {
    const { tests } = readThirdPartyJson<{ tests: readonly Rfc8032Test[] }>('rfc/rfc8032-section-7.1.json');
    expect(tests).toHaveLength(5);
    for (const { publicKey, message, signature } of tests) {
      const [key, signed] = [hexToBytes(publicKey), hexToBytes(signature)];
      expect(port.verify(key, hexToBytes(message), signed)).toBe(true);
      expect(port.verify(key, hexToBytes(`${message}00`), signed)).toBe(false);
    }
  });

  it('accepts exactly those CCTV cases that have no edge-case flag', () => {
    const cases = readThirdPartyJson<readonly CctvCase[]>('cctv-ed25519/ed25519vectors.json');
    expect(cases).toHaveLength(914);
    const wrong = cases.filter(
      ({ key, msg, sig, flags }) =>
        port.verify(hexToBytes(key), msg, hexToBytes(sig)) !== ((flags ?? []).length === 0),
    );
    expect(wrong.map(({ number }) => number)).toEqual([]);
  });

  it('refuses all cases of ed25519-speccheck, on which verifiers differ', () => {
    const cases = readThirdPartyJson<readonly SpeccheckCase[]>('ed25519-speccheck/cases.json');
    expect(cases).toHaveLength(12);
    for (const { pub_key: key, message, signature } of cases)
      expect(port.verify(hexToBytes(key), hexToBytes(message), hexToBytes(signature))).toBe(false);
  });

  it('refuses all 14 encodings of small-order points as the key, also on a repeated call', () => {
    const encodings = smallOrderEncodings();
    expect(new Set(encodings.map(bytesToHex)).size).toBe(14);
    const { signature } = forge(honest, message);
    for (const encoding of [...encodings, ...encodings]) {
      expect(port.isStrictKey(encoding)).toBe(false);
      expect(port.verify(encoding, message, signature)).toBe(false);
    }
  });

  it('refuses the signature that is valid for every message under the identity key', () => {
    const signature = concatBytes(identity, zeroScalar);
    for (const text of ['pay 1', 'pay 1000000', '']) {
      const anyMessage = new TextEncoder().encode(text);
      expect(satisfiesEquation(identity, anyMessage, signature)).toBe(true);
      expect(port.verify(identity, anyMessage, signature)).toBe(false);
    }
  });

  it('refuses every small-order encoding as R, also under a valid key', () => {
    const { publicKey } = forge(honest, message);
    let satisfied = 0;
    for (const r of smallOrderEncodings()) {
      const s = (challenge(r, publicKey, message) * honest.a) % L;
      const signature = concatBytes(r, to32Bytes(s));
      if (satisfiesEquation(publicKey, message, signature)) satisfied++;
      expect(port.verify(publicKey, message, signature)).toBe(false);
    }
    expect(satisfied).toBe(1);
  });

  it('refuses a key of another length, off the curve, with y ≥ p or with a torsion component', () => {
    const { publicKey } = forge(honest, message);
    const offCurve = to32Bytes(2n);
    expect(() => Point.fromBytes(offCurve)).toThrow();
    const keys = [
      new Uint8Array(0),
      publicKey.slice(0, 31),
      concatBytes(publicKey, new Uint8Array(1)),
      offCurve,
      ...Array.from({ length: 19 }, (_, i) => to32Bytes(P + BigInt(i))),
      ...[1, 2, 3, 4, 5, 6, 7].map((keyTorsion) => forge({ ...honest, keyTorsion }, message).publicKey),
    ];
    for (const key of keys) {
      expect(port.isStrictKey(key)).toBe(false);
      expect(port.verify(key, message, forge(honest, message).signature)).toBe(false);
    }
  });

  it('refuses a signature of another length', () => {
    const { publicKey, signature } = forge(honest, message);
    for (const other of [new Uint8Array(0), signature.slice(0, 63), concatBytes(signature, zeroScalar)]) {
      expect(port.verify(publicKey, message, other)).toBe(false);
    }
  });

  it('refuses S = L, S + nL and the largest S of 32 bytes', () => {
    const signed = forge(honest, message);
    expect(satisfiesEquation(signed.publicKey, message, addOrder(signed.signature, 1n))).toBe(true);
    for (const n of [1n, 2n, 7n, 14n]) {
      expect(port.verify(signed.publicKey, message, addOrder(signed.signature, n))).toBe(false);
    }
    const r = signed.signature.slice(0, 32);
    expect(port.verify(signed.publicKey, message, concatBytes(r, to32Bytes(L)))).toBe(false);
    expect(port.verify(signed.publicKey, message, concatBytes(r, new Uint8Array(32).fill(255)))).toBe(false);
  });

  it.each<[string, () => Signed]>([
    ['small A, small R', () => forgeUntil({ a: 0n, r: 0n, keyTorsion: 1, nonceTorsion: 3 }, true)],
    ['small A, R of mixed order', () => forgeUntil({ a: 0n, r: 77n, keyTorsion: 1, nonceTorsion: 3 }, true)],
    ['small A, R of prime order', () => forgeUntil({ a: 0n, r: 77n, keyTorsion: 1, nonceTorsion: 0 }, true)],
    [
      'A of mixed order, small R',
      () => forgeUntil({ ...honest, r: 0n, keyTorsion: 1, nonceTorsion: 3 }, true),
    ],
    ['A and R of mixed order', () => forgeUntil({ ...honest, keyTorsion: 1, nonceTorsion: 3 }, true)],
    ['A of mixed order, R of prime order', () => forgeUntil({ ...honest, keyTorsion: 1 }, true)],
    [
      'A and R mixed, cofactored equation only',
      () => forgeUntil({ ...honest, keyTorsion: 1, nonceTorsion: 3 }, false),
    ],
    ['A of mixed order, cofactored equation only', () => forgeUntil({ ...honest, keyTorsion: 4 }, false)],
    ['R of mixed order, cofactored equation only', () => forgeUntil({ ...honest, nonceTorsion: 1 }, false)],
  ])('refuses a signature that other verifiers disagree about: %s', (_, build) => {
    expect(verifyWith(port, build())).toBe(false);
  });

  it('gives the same verdict for repeated keys in any order', () => {
    const good = forge(honest, message);
    const bad = forgeUntil({ ...honest, keyTorsion: 1 }, true);
    const verdicts = [good, bad, bad, good, bad, good].map((signed) => verifyWith(port, signed));
    expect(verdicts).toEqual([true, false, false, true, false, true]);
  });

  it('does not keep the caller’s buffer: changing it later does not change the verdict on the key', () => {
    const { publicKey, signature } = forge({ ...honest, a: 991n }, message);
    const buffer = Uint8Array.from(publicKey);
    expect(port.verify(buffer, message, signature)).toBe(true);
    buffer.set(identity);
    expect(port.isStrictKey(buffer)).toBe(false);
    expect(port.verify(publicKey, message, signature)).toBe(true);
  });

  it('hashes bytes and text with SHA-256', () => {
    const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    expect(port.sha256Hex('abc')).toBe(abc);
    expect(port.sha256Hex(new Uint8Array([97, 98, 99]))).toBe(abc);
    expect(sha256Of(port, 'abc')).toBe(`sha256:${abc}`);
  });
});

describe.each(natives)('portableCrypto and $name', ({ port }) => {
  const scalar = fc.bigInt({ min: 1n, max: L - 1n });
  /** Few keys, so that cached and new ones mix. */
  const key = fc.constantFrom(3n, 5n, 7n, L - 1n);
  const flip = (bytes: Uint8Array, bit: number): Uint8Array =>
    bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));

  it('agree on valid, bit-flipped, S + nL, R + torsion and A + torsion input', { timeout: 120_000 }, () => {
    const torsion = fc.integer({ min: 0, max: 7 });
    const change = fc.oneof(
      fc.constant((signed: Signed) => signed),
      fc.nat(255).map((bit) => (signed: Signed) => ({ ...signed, publicKey: flip(signed.publicKey, bit) })),
      fc.nat(511).map((bit) => (signed: Signed) => ({ ...signed, signature: flip(signed.signature, bit) })),
      fc.nat(63).map((bit) => (signed: Signed) => ({ ...signed, message: flip(signed.message, bit) })),
      fc
        .bigInt(1n, 14n)
        .map((n) => (signed: Signed) => ({ ...signed, signature: addOrder(signed.signature, n) })),
    );
    /** Fixed honest input. Of 150 random inputs some fifteen verify, and sometimes none. */
    const HONEST = Array.from(
      { length: 12 },
      (_, i): [bigint, bigint, number, number, Uint8Array, (signed: Signed) => Signed] => [
        ...([3n, 1_000n + BigInt(i), 0, 0] as const),
        ...([new Uint8Array(8 + i).fill(i), (signed: Signed) => signed] as const),
      ],
    );
    let accepted = 0;
    fc.assert(
      fc.property(
        key,
        scalar,
        fc.oneof(fc.constant(0), torsion),
        fc.oneof(fc.constant(0), torsion),
        fc.uint8Array({ minLength: 8, maxLength: 40 }),
        change,
        (a, r, keyTorsion, nonceTorsion, text, alter) => {
          const signed = alter(forge({ a, r, keyTorsion, nonceTorsion }, text));
          const verdict = verifyWith(portableCrypto, signed);
          expect(verifyWith(port, signed)).toBe(verdict);
          expect(port.isStrictKey(signed.publicKey)).toBe(portableCrypto.isStrictKey(signed.publicKey));
          if (verdict) accepted++;
        },
      ),
      { numRuns: sampled({ quick: 150, deep: 300 }), examples: HONEST },
    );
    expect(accepted).toBeGreaterThanOrEqual(HONEST.length);
  });

  it('agree on arbitrary bytes, and on valid signatures from another implementation', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const raw = decodeBase64url(publicKey.export({ format: 'jwk' }).x ?? '') ?? new Uint8Array();
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.uint8Array({ minLength: 64, maxLength: 64 }),
        (text, junk) => {
          const signature = new Uint8Array(sign(null, text, privateKey));
          expect(portableCrypto.verify(raw, text, signature)).toBe(true);
          expect(port.verify(raw, text, signature)).toBe(true);
          expect(portableCrypto.verify(raw, text, junk)).toBe(false);
          expect(port.verify(raw, text, junk)).toBe(false);
        },
      ),
      { numRuns: sampled({ quick: 16, deep: 50 }) },
    );
  });

  it('agree on SHA-256 of any string, lone surrogates included', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('', '\ud800', '\udc00'), (text, lone) => {
        expect(port.sha256Hex(text + lone)).toBe(portableCrypto.sha256Hex(text + lone));
      }),
    );
  });

  it('are tested with all eight points of small order', () => {
    expect(new Set(torsionPoints.map((point) => point.toHex())).size).toBe(8);
    expect(torsionPoints.every((point) => point.isSmallOrder())).toBe(true);
    expect(toBigInt(to32Bytes(P))).toBe(P);
  });
});

it('privateKeyOfSeed gives the key of RFC 8032 §7.1, test 1', () => {
  const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
  const { x } = createPublicKey(privateKeyOfSeed(seed)).export({ format: 'jwk' });
  expect(Buffer.from(x ?? '', 'base64url').toString('hex')).toBe(
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  );
});
