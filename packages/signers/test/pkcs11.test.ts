/** Keys in a real PKCS#11 token, implemented in software. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { encodeMultikey } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { KeySetError, type PublishedKey, RefusedPinError, withinMs } from '@svc/service';
import { isDeep } from '@svc/testkit/sampled';
import { createSoftToken, findSoftHsm, type SoftToken } from '@svc/testkit/soft-token';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseKeyUri } from '../src/key-uri.ts';
import { type Cryptoki, CryptokiError } from '../src/pkcs11/cryptoki.ts';
import { Library } from '../src/pkcs11/library.ts';
import { CKR } from '../src/pkcs11/return-values.ts';
import { callsAtOnce, openToken, RefusedPins, Token, tokenCallsOf } from '../src/pkcs11/token.ts';
import { Signers } from '../src/signers.ts';
import type { KeySources } from '../src/sources.ts';

const modulePath = findSoftHsm();
if (modulePath === null)
  console.warn(
    'SKIPPED: keys in PKCS#11 tokens. SoftHSM is not installed (Debian: apt-get install softhsm2)',
  );

const sources: KeySources = {
  ...{ folder: '/nowhere', passphrasePath: null, pinPath: null },
  readSecret: (path) => readFileSync(path, 'utf8'),
  writeSecret: () => {
    throw new Error('nothing is written');
  },
};
const KID = 'did:web:svc.example#receipt-1';
const publishedOf = (publicKey: Uint8Array, kid = KID): PublishedKey => ({
  ...{ kid, publicKey, publicKeyMultibase: encodeMultikey(publicKey), canSign: true },
  time: { fromMs: null, untilMs: null, isCompromised: false },
});
const bytesOf = (text: string): Uint8Array => Buffer.from(text);

it('the number of concurrent token calls is bounded by the size of the thread pool', () => {
  expect(
    [{}, { UV_THREADPOOL_SIZE: '1' }, { UV_THREADPOOL_SIZE: '10' }, { UV_THREADPOOL_SIZE: '1024' }].map(
      callsAtOnce,
    ),
  ).toEqual([2, 1, 8, 16]);
});

const neverAborted = () => new AbortController().signal;

const processThat = ({ isStarting = true, threads = '4' } = {}) => ({
  ...{ calls: tokenCallsOf({ UV_THREADPOOL_SIZE: threads }), refused: new RefusedPins(), isStarting },
});

/** A token of a simulated library with the given answers. */
const pretend = (
  answers: Partial<Record<keyof Cryptoki, (...asked: never[]) => unknown>>,
  ofProcess = processThat(),
) => {
  const cryptoki = {
    ...{ listSlots: async () => [1], getToken: async () => ({ label: 'svc', serial: '1' }) },
    ...{ openSession: async () => 1, closeSession: async () => {}, login: async () => {} },
    ...{ findObjects: async () => [1], ...answers },
  };
  const library = {
    run: (work: (_: typeof cryptoki) => unknown) => work(cryptoki),
    ...{ noteSession: () => {}, renew: async () => {} },
  };
  const at = parseKeyUri('pkcs11:token=svc;object=k?module-path=/nowhere.so');
  if (at.kind !== 'pkcs11') throw new Error('a token is expected');
  return new Token(library as never, at, { pin: Buffer.from('2468'), ...ofProcess });
};

it('a hanging token does not block signing with a key in another token', async () => {
  const ofProcess = processThat();
  const hanging = pretend({ signEddsa: () => new Promise(() => {}) }, ofProcess);
  for (let i = 0; i < 20; i++) void hanging.sign(bytesOf('hanging'), neverAborted());
  const signature = new Uint8Array(64);
  const signing = pretend({ signEddsa: async () => signature }, ofProcess);
  expect(await signing.sign(bytesOf('x'), neverAborted())).toBe(signature);
});

it('however many tokens hang, their calls leave two threads of the pool to other work of the process', async () => {
  const ofProcess = processThat({ threads: '6' });
  let calls = 0;
  const signEddsa = () => {
    calls += 1;
    return new Promise(() => {});
  };
  for (let token = 0; token < 5; token++) {
    const hanging = pretend({ signEddsa }, ofProcess);
    for (let i = 0; i < 5; i++) void hanging.sign(bytesOf('hanging'), neverAborted());
  }
  await new Promise(setImmediate);
  expect(calls).toBe(4);
});

it.each([
  ['reports a wrong PIN', CKR.PIN_INCORRECT],
  ['reports only a general error', CKR.GENERAL_ERROR],
])('a starting process gives a refused PIN to a token once, if the library %s', async (_, code) => {
  const ofProcess = processThat();
  let logins = 0;
  const login = async () => {
    logins += 1;
    throw new CryptokiError('C_Login', code);
  };
  const starting = () => pretend({ login }, ofProcess).sign(bytesOf('x'), neverAborted());
  await expect(starting()).rejects.toThrow('C_Login');
  expect(logins).toBe(1);
  // Keys are opened again while others are in use. A PIN that the token has refused explicitly is never given to it
  // again.
  if (code !== CKR.PIN_INCORRECT) return;
  await expect(starting()).rejects.toThrow(RefusedPinError);
  expect(logins).toBe(1);
});

it('a PIN that has become wrong is given to the token once, even if many signatures need a session at once', async () => {
  let logins = 0;
  const login = async () => {
    logins += 1;
    throw new CryptokiError('C_Login', CKR.PIN_INCORRECT);
  };
  const token = pretend({ login }, processThat({ isStarting: false, threads: '10' }));
  const signing = await Promise.allSettled(
    Array.from({ length: 20 }, () => token.sign(bytesOf('x'), neverAborted())),
  );
  expect(signing.map((one) => one.status === 'rejected' && one.reason instanceof RefusedPinError)).toEqual(
    Array(20).fill(true),
  );
  expect(logins).toBe(1);
});

/** A slot without a token. `onLook`: called at each search. */
const emptySlot = (onLook = () => {}) => {
  let looks = 0;
  const listSlots = async () => {
    looks += 1;
    onLook();
    return [];
  };
  return { answers: { listSlots }, looks: () => looks };
};

it('a process that is no longer starting looks for a missing token only once', async () => {
  const slot = emptySlot();
  const later = pretend(slot.answers, processThat({ isStarting: false }));
  await expect(later.sign(bytesOf('x'), neverAborted())).rejects.toThrow('no such token is there');
  expect(slot.looks()).toBe(1);
});

it('a cancelled start stops looking for its token, and gives it no PIN', async () => {
  const stop = new AbortController();
  const slot = emptySlot(() => stop.abort());
  const starting = () => pretend(slot.answers).sign(bytesOf('x'), stop.signal);
  for (const _ of ['at its first look', 'before it began']) await expect(starting()).rejects.toThrow();
  expect(slot.looks()).toBe(1);
  let logins = 0;
  const late = new AbortController();
  const login = async () => {
    logins += 1;
  };
  const openSession = async () => {
    late.abort();
    return 1;
  };
  await expect(pretend({ openSession, login }).sign(bytesOf('x'), late.signal)).rejects.toThrow();
  expect(logins).toBe(0);
});

describe.skipIf(modulePath === null)('a key in a PKCS#11 token', () => {
  let token: SoftToken;
  let signers = new Signers();
  beforeAll(() => {
    token = createSoftToken(modulePath ?? '');
  });
  afterEach(async () => {
    await signers.close();
    signers = new Signers();
  });
  afterAll(() => token.remove());

  const make = async (name: string) => {
    const made = await signers.make(token.uri(), { name, isLikeThat: false }, sources);
    return { ...made, key: publishedOf(made.publicKey) };
  };
  const open = async (name: string) => {
    const { uri, key } = await make(name);
    const signer = await signers.open(uri, key, sources);
    const signs = async (text: string) =>
      nativeCrypto.verify(key.publicKey, bytesOf(text), await signer.sign(bytesOf(text)));
    return { uri, key, signer, signs };
  };
  /** The effect on a process of a token that was taken out and put in again: every session has ended. */
  const reset = async (meanwhile = () => {}) => {
    const library = await Library.use(modulePath ?? '');
    await library.run(async (cryptoki) => {
      await cryptoki.finalize();
      meanwhile();
      await cryptoki.initialize();
    });
    await library.release();
  };

  it('is made in the token, and its signatures over messages of 1 to 200,000 bytes verify as Ed25519', async () => {
    const { uri, signs, signer } = await open('receipt-1');
    expect(uri).toBe(
      `pkcs11:token=svc%20test;object=receipt-1?module-path=${modulePath}&pin-source=file:${token.pinPath}`,
    );
    expect(signer.maxBytes).toBeUndefined();
    for (const length of [1, 4_096, 4_097, 200_000]) expect(await signs('x'.repeat(length))).toBe(true);
  });

  it('is made once: a repeated call returns the existing key, and the next key is made in the same token', async () => {
    const first = await make('receipt-2');
    expect((await make('receipt-2')).publicKey).toEqual(first.publicKey);
    const next = await signers.make(first.uri, { name: 'receipt-3', isLikeThat: true }, sources);
    expect(next.uri).toBe(first.uri.replace('receipt-2', 'receipt-3'));
    expect(next.publicKey).not.toEqual(first.publicKey);
  });

  it('signs 60 messages at once, each with its own valid signature', async () => {
    const { signs } = await open('receipt-1');
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => signs(`message ${i}`)));
    expect(new Set(answers)).toEqual(new Set([true]));
  });

  it.each([
    ['another key than the published one', 'receipt-1', /does not verify under x/],
    ['no such key', 'receipt-99', /has no such Ed25519 private key/],
  ])('is not opened if the token has %s', async (_, object, expected) => {
    await make('receipt-1');
    const { publicKey } = await make('receipt-2');
    const opening = signers.open(token.uri(`;object=${object}`), publishedOf(publicKey), sources);
    await expect(opening).rejects.toThrow(KeySetError);
    await expect(opening).rejects.toThrow(expected);
  });

  // "a process that is no longer starting", above, tests a process that reads a key later and does not wait for a
  // missing token.
  it.runIf(isDeep)('is not opened without its token', async () => {
    const { key, uri } = await make('receipt-1');
    const opening = signers.open(uri.replace('svc%20test', 'elsewhere'), key, sources);
    await expect(opening).rejects.toThrow(/no such token is there/);
  });

  it('is not opened without its library, with a wrong PIN or without a PIN source', async () => {
    const { key, uri } = await make('receipt-1');
    const opening = (text: string) => signers.open(text, key, sources);
    await expect(opening(uri.replace(/module-path=[^&]*/, 'module-path=/nowhere.so'))).rejects.toThrow(
      /\/nowhere\.so cannot be loaded as a PKCS#11 library/,
    );
    const wrong = `${token.pinPath}.wrong`;
    writeFileSync(wrong, 'hunter2\n', { mode: 0o600 });
    const refused = opening(uri.replace(/pin-source=.*/, `pin-source=file:${wrong}`));
    await expect(refused).rejects.toThrow(/does not take the PIN \(C_Login answered CKR_PIN_INCORRECT\)/);
    await expect(refused).rejects.not.toThrow(/hunter2/);
    await expect(refused).rejects.toMatchObject({ cause: expect.any(RefusedPinError) });
    await expect(opening(uri.replace(/&pin-source=.*/, ''))).rejects.toThrow(/SVC_PKCS11_PIN_FILE/);
  });

  it('is opened by a starting process once its token, missing for a moment, is back', async () => {
    const { key, uri } = await make('receipt-1');
    await signers.close();
    token.take();
    const { renew } = Library.prototype;
    const looking = vi.spyOn(Library.prototype, 'renew').mockImplementation(async function (this: Library) {
      if (looking.mock.calls.length === 2) token.putBack();
      await renew.call(this);
    });
    const signer = await signers.open(uri, key, sources);
    looking.mockRestore();
    expect(nativeCrypto.verify(key.publicKey, bytesOf('x'), await signer.sign(bytesOf('x')))).toBe(true);
  });

  it('still signs after its sessions were lost, and reports no fault', async () => {
    const { signs, signer } = await open('receipt-1');
    expect(await signs('before')).toBe(true);
    await reset();
    expect(await signs('after')).toBe(true);
    expect(signer.findFault?.()).toBeNull();
  });

  it.runIf(isDeep)(
    'refuses to sign and reports a fault while its token is missing, and signs again once the token is back',
    async () => {
      const { signs, signer } = await open('receipt-1');
      await reset(() => token.take());
      try {
        await expect(signs('away')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
        await vi.waitFor(
          () => expect(signer.findFault?.()).toMatch(/token svc test, key receipt-1: .*no such token/),
          {
            timeout: 10_000,
          },
        );
      } finally {
        token.putBack();
      }
      await vi.waitFor(() => expect(signer.findFault?.()).toBeNull(), { timeout: 20_000 });
      expect(await signs('back')).toBe(true);
    },
  );

  it('fails with SERVICE_UNAVAILABLE while the token hangs, also with several keys; other work of the process continues', async () => {
    const { signs, signer } = await open('receipt-1');
    const other = await open('status-1');
    expect([await signs('before'), await other.signs('before')]).toEqual([true, true]);
    token.freeze();
    try {
      const asked = Array.from({ length: 40 }, (_, i) =>
        (i % 2 === 0 ? signs : other.signs)(`hanging ${i}`).catch((error) => error.code),
      );
      const givenUp = Promise.all(asked);
      // gzip needs another thread of the same pool, before the calls are given up and after: the token hangs until it
      // is woken.
      expect(await Promise.race([promisify(gzip)('x'), givenUp])).toBeInstanceOf(Buffer);
      const late = () => Promise.reject(new Error('nothing is done while the token hangs'));
      expect(new Set(await withinMs(10_000, givenUp, late))).toEqual(new Set(['SERVICE_UNAVAILABLE']));
      expect(await withinMs(10_000, promisify(gzip)('x'), late)).toBeInstanceOf(Buffer);
      expect(signer.findFault?.()).toMatch(/no signature within 500 ms/);
    } finally {
      token.wake();
    }
    await vi.waitFor(() => expect(signer.findFault?.()).toBeNull(), { timeout: 20_000 });
    expect(await signs('after')).toBe(true);
  });

  it('is not tried again with a PIN that the token has refused', async () => {
    const { uri } = await make('receipt-1');
    const at = parseKeyUri(uri);
    if (at.kind !== 'pkcs11') throw new Error('a token is expected');
    const wrong = await openToken(at, {
      pin: Buffer.from('hunter2'),
      ...processThat(),
    });
    const sign = () =>
      wrong.sign(bytesOf('x'), new AbortController().signal).catch((error: unknown) => error);
    const first = await sign();
    expect(first).toMatchObject({ message: expect.stringMatching(/does not take the PIN/) });
    expect(await sign()).toBe(first);
    await wrong.close();
  });

  it('gives out no signature if the token holds another key than the published one', async () => {
    const { signer, key } = await open('receipt-1');
    const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? '';
    key.publicKey.set(Buffer.from(other, 'base64url'));
    await expect(signer.sign(bytesOf('x'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(signer.findFault?.()).toMatch(/does not verify under x of the key set/);
  });

  it('is refused as a key of the sandbox', async () => {
    const { uri, key } = await make('receipt-1');
    const opening = signers.open(uri, { ...key, kid: 'did:web:svc.example:org:sandbox#key-1' }, sources);
    await expect(opening).rejects.toThrow(/sandbox's keys are in the set or in file:/);
  });
});
