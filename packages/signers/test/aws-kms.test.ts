/** Keys in AWS KMS, simulated by its API reference. */
import { readFileSync } from 'node:fs';
import { encodeMultikey } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { KeySetError, type PublishedKey } from '@svc/service';
import { type KmsServer, startKmsServer } from '@svc/testkit/kms-server';
import { isDeep } from '@svc/testkit/sampled';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Signers } from '../src/signers.ts';
import type { KeySources } from '../src/sources.ts';

const sources: KeySources = {
  ...{ folder: '/nowhere', passphrasePath: null, pinPath: null },
  readSecret: (path) => readFileSync(path, 'utf8'),
  writeSecret: () => {
    throw new Error('nothing is written');
  },
};
const publishedOf = (publicKey: Uint8Array, kid = 'did:web:svc.example#receipt-1'): PublishedKey => ({
  ...{ kid, publicKey, publicKeyMultibase: encodeMultikey(publicKey), canSign: true },
  time: { fromMs: null, untilMs: null, isCompromised: false },
});

let kms: KmsServer;
let signers = new Signers();
beforeAll(async () => {
  kms = await startKmsServer();
  for (const [name, value] of Object.entries(kms.env)) vi.stubEnv(name, value);
});
afterEach(async () => {
  kms.behave('well');
  await signers.close();
  signers = new Signers();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await kms.stop();
});

const open = async () => {
  const made = await signers.make(kms.createKey(), { name: 'receipt-1', isLikeThat: false }, sources);
  const signer = await signers.open(made.uri, publishedOf(made.publicKey), sources);
  const signs = async (bytes: Uint8Array) =>
    nativeCrypto.verify(made.publicKey, bytes, await signer.sign(bytes));
  return { ...made, signer, signs };
};
const MESSAGE = Buffer.from('message');

it('a KMS signer signs as Ed25519 for up to 4,096 bytes, and refuses more without a call to KMS', async () => {
  const { signer, signs } = await open();
  expect(signer.maxBytes).toBe(4_096);
  for (const length of [1, 2_300, 4_096]) expect(await signs(new Uint8Array(length))).toBe(true);
  expect(kms.signed.at(-1)).toEqual({ answer: 'ok', bytes: 4_096 });
  const before = kms.signed.length;
  await expect(signer.sign(new Uint8Array(4_097))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(kms.signed).toHaveLength(before);
});

it('a new KMS key is made in the named region, or in the region of the previous key, and signs', async () => {
  const made = await signers.make('aws-kms:us-east-2', { name: 'receipt-2', isLikeThat: false }, sources);
  const next = await signers.make(made.uri, { name: 'receipt-3', isLikeThat: true }, sources);
  expect(made.uri).toMatch(/^aws-kms:arn:aws:kms:us-east-2:/);
  expect(next.uri).toMatch(/^aws-kms:arn:aws:kms:us-east-2:/);
  expect([next.uri === made.uri, next.publicKey.length]).toEqual([false, 32]);
  const signer = await signers.open(next.uri, publishedOf(next.publicKey), sources);
  expect(nativeCrypto.verify(next.publicKey, MESSAGE, await signer.sign(MESSAGE))).toBe(true);
});

it('a KMS signer that is no longer used is closed, and one that is used stays open', async () => {
  const [former, present] = [await open(), await open()];
  await signers.closeAllBut([present.signer]);
  const again = ({ uri, publicKey }: typeof former) => signers.open(uri, publishedOf(publicKey), sources);
  expect(await again(present)).toBe(present.signer);
  expect(await present.signs(MESSAGE)).toBe(true);
  expect(await again(former)).not.toBe(former.signer);
});

describe('the start with a KMS key is refused', () => {
  it('for status keys, whose lists grow beyond 4096 bytes, and for the sandbox', async () => {
    const { uri, publicKey } = await open();
    const opening = (kid: string) => signers.open(uri, publishedOf(publicKey, kid), sources);
    await expect(opening('did:web:svc.example#status-1')).rejects.toThrow(
      /4096 bytes .*status keys are in file: or pkcs11:/,
    );
    await expect(opening('did:web:svc.example:org:sandbox#key-1')).rejects.toThrow(/sandbox/);
  });

  it('if the key is disabled, pending deletion, missing or not the published one', async () => {
    const { uri, publicKey } = await open();
    const other = kms.createKey();
    await signers.close();
    const opening = async (at = uri) => {
      const error = await signers
        .open(at, publishedOf(publicKey), sources)
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(KeySetError);
      return String(error);
    };
    expect(await opening(other)).toMatch(/does not verify under x/);
    kms.setState(uri, 'Disabled');
    expect(await opening()).toMatch(/AWS KMS arn:aws:.*DisabledException/);
    kms.setState(uri, 'PendingDeletion');
    expect(await opening()).toMatch(/KMSInvalidStateException/);
    expect(await opening(uri.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')))).toMatch(
      /NotFoundException/,
    );
  });

  it('with wrong credentials, and the error contains no secret', async () => {
    const { uri, publicKey } = await open();
    await signers.close();
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hunter2hunter2hunter2');
    const error = await signers.open(uri, publishedOf(publicKey), sources).catch((reason: unknown) => reason);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', kms.env.AWS_SECRET_ACCESS_KEY ?? '');
    expect(String(error)).toMatch(/InvalidSignatureException/);
    expect(String(error)).not.toContain('hunter2');
  });
});

describe('a KMS signer', () => {
  it('signs although one call fails or is throttled', async () => {
    const { signs } = await open();
    for (const how of ['fail', 'throttle'] as const) {
      kms.behave(how, 1);
      expect(await signs(MESSAGE)).toBe(true);
    }
  });

  it('gives up a call that hangs in time for a second one', async () => {
    const { signs } = await open();
    // The second request has half a second, which a loaded machine may exceed once.
    const tries: unknown[] = [];
    for (; tries.length < 3 && !tries.includes(true); ) {
      kms.behave('hang', 1);
      tries.push(await signs(MESSAGE).catch(({ code }) => code));
    }
    expect(tries).toContain(true);
  });

  it('refuses to sign and reports a fault while KMS hangs, and reports none once KMS is back', async () => {
    const { signer, signs } = await open();
    kms.behave('hang');
    const startedMs = performance.now();
    const asked = Array.from({ length: 5 }, () => signs(MESSAGE).catch(({ code }) => code));
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['SERVICE_UNAVAILABLE']));
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    await vi.waitFor(() => expect(signer.findFault?.()).toMatch(/AWS KMS arn:.*: TimeoutError/), {
      timeout: 10_000,
    });
    kms.behave('well');
    await vi.waitFor(() => expect(signer.findFault?.()).toBeNull(), { timeout: 10_000 });
  });

  it('fails while KMS throttles, but reports no fault', async () => {
    const { signer, signs } = await open();
    kms.behave('throttle');
    const startedMs = performance.now();
    // A fault would be reported after a second without a signature.
    while (performance.now() - startedMs < 1_500)
      await expect(signs(MESSAGE)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(signer.findFault?.()).toBeNull();
    kms.behave('well');
    expect(await signs(MESSAGE)).toBe(true);
    expect(signer.findFault?.()).toBeNull();
  });

  // `watched-signer.test.ts`, "an idle signer is probed regularly", checks the same in simulated time.
  it.runIf(isDeep)(
    'reports a disabled key without being asked to sign, and signs again once the key is enabled',
    async () => {
      const { uri, signer, signs } = await open();
      kms.setState(uri, 'Disabled');
      await vi.waitFor(() => expect(signer.findFault?.()).toMatch(/DisabledException/), {
        timeout: 20_000,
        interval: 100,
      });
      kms.setState(uri, 'Enabled');
      await vi.waitFor(() => expect(signer.findFault?.()).toBeNull(), { timeout: 10_000 });
      expect(await signs(MESSAGE)).toBe(true);
    },
  );
});
