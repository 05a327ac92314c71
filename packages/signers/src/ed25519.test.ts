import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { nativeCrypto } from '@svc/protocol/native';
import { readThirdPartyJson } from '@svc/vectors/src/third-party.ts';
import fc from 'fast-check';
import type { Sodium } from 'sodium-native';
import { describe, expect, it } from 'vitest';
import { nodeEd25519, openEd25519 } from './ed25519.ts';

const findSodium = (): Sodium | null => {
  try {
    return createRequire(import.meta.url)('sodium-native');
  } catch {
    return null;
  }
};
const sodium = findSodium();
const isBuiltForHere = (): boolean => {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve('sodium-native/package.json'));
    return existsSync(join(folder, 'prebuilds', `${process.platform}-${process.arch}`));
  } catch {
    return false;
  }
};

/** libsodium with some calls replaced, and a record of the memory that it allocated. */
const watched = (changes: Partial<Sodium> = {}) => {
  const given: Buffer[] = [];
  const freed: Buffer[] = [];
  const real = sodium as Sodium;
  const library: Sodium = {
    ...real,
    sodium_malloc: (size) => {
      const buffer = real.sodium_malloc(size);
      given.push(buffer);
      return buffer;
    },
    sodium_free: (buffer) => {
      expect([...buffer].every((byte) => byte === 0)).toBe(true);
      freed.push(buffer);
      real.sodium_free(buffer);
    },
    ...changes,
  };
  return { given, freed, load: async () => library };
};

/** libsodium with only these calls. */
const withPoints = (
  crypto_core_ed25519_is_valid_point: Sodium['crypto_core_ed25519_is_valid_point'],
  others: Partial<Sodium> = {},
): Sodium => ({ crypto_core_ed25519_is_valid_point, ...others }) as Sodium;
const isStrict = (publicKey: Uint8Array): boolean => nativeCrypto.isStrictKey(publicKey);

it.runIf(isBuiltForHere())('libsodium is used if its package is installed with a binary', async () => {
  expect(await openEd25519('auto')).toMatchObject({ name: 'sodium', without: null });
});

it.each([
  ['its binary does not load', () => Promise.reject(new Error('GLIBC_2.99 not found')), /GLIBC/],
  ['it admits a key of mixed order', async () => withPoints(() => true), /other keys/],
  ['it admits no key', async () => withPoints(() => false), /other keys/],
  [
    'it accepts what node:crypto does not',
    async () => withPoints(isStrict, { crypto_sign_verify_detached: () => true }),
    /other signatures/,
  ],
  [
    'it refuses what node:crypto accepts',
    async () => withPoints(isStrict, { crypto_sign_verify_detached: () => false }),
    /other signatures/,
  ],
])('node:crypto is used instead of libsodium, with the reason, if %s', async (_, load, reason) => {
  const { name, without, crypto } = await openEd25519('auto', load);
  expect([name, crypto]).toEqual(['node', nativeCrypto]);
  expect(without).toMatch(reason);
});

it('SVC_ED25519=node uses node:crypto without loading libsodium', async () => {
  const load = () => Promise.reject(new Error('loaded'));
  expect(await openEd25519('node', load)).toMatchObject({ name: 'node', without: 'SVC_ED25519=node' });
});

describe.runIf(sodium !== null)('signing by libsodium', () => {
  it('gives the signatures of RFC 8032 §7.1', async () => {
    const { signWith, close } = await openEd25519('auto', watched().load);
    const { tests } = readThirdPartyJson<{
      tests: readonly { secretKey: string; message: string; signature: string }[];
    }>('rfc/rfc8032-section-7.1.json');
    expect(tests).toHaveLength(5);
    for (const { secretKey, message, signature } of tests) {
      const der = Buffer.from(`302e020100300506032b657004220420${secretKey}`, 'hex');
      const signing = signWith(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
      expect(Buffer.from(signing(Buffer.from(message, 'hex'))).toString('hex')).toBe(signature);
    }
    close();
  });

  it('gives the same bytes as node:crypto, for any key and message', async () => {
    const { signWith, close } = await openEd25519('auto', watched().load);
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ maxLength: 5_000 }),
        (seed, message) => {
          const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
          const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
          expect(Buffer.from(signWith(key)(message))).toEqual(sign(null, message, key));
        },
      ),
    );
    close();
  });

  it('holds a key once although it is read repeatedly, zeroes it on closing, and then refuses to sign', async () => {
    const { given, freed, load } = watched();
    const { signWith, close } = await openEd25519('auto', load);
    const { privateKey } = generateKeyPairSync('ed25519');
    const [one, other] = [signWith(privateKey), signWith(privateKey)];
    expect(one(Buffer.from('a'))).toEqual(other(Buffer.from('a')));
    expect([given.length, freed.length]).toEqual([2, 1]);
    close();
    expect(freed).toHaveLength(2);
    for (const signing of [one, other]) expect(() => signing(Buffer.from('a'))).toThrow(/closed/);
  });

  it('keeps the key in read-only memory', async () => {
    const sealed: Buffer[] = [];
    const { given, load } = watched({
      sodium_mprotect_readonly: (buffer) => {
        sealed.push(buffer);
        sodium?.sodium_mprotect_readonly(buffer);
      },
    });
    const { signWith, close } = await openEd25519('auto', load);
    signWith(generateKeyPairSync('ed25519').privateKey);
    expect(sealed).toEqual(given);
    close();
  });
});

it('closing node:crypto changes nothing: it still signs', () => {
  const { signWith, close } = nodeEd25519();
  const signing = signWith(generateKeyPairSync('ed25519').privateKey);
  close();
  expect(signing(Buffer.from('a'))).toHaveLength(64);
});
