import { generateKeyPairSync, sign } from 'node:crypto';
import { encodeMultikey } from '@svc/protocol';
import { KeySetError, type PublishedKey } from '@svc/service';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BusyError, type Driver } from './driver.ts';
import { type WatchedSigner, watchSigner } from './watched-signer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pair = generateKeyPairSync('ed25519');
const publicKey = new Uint8Array(Buffer.from(pair.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'));
const key: PublishedKey = {
  ...{ kid: 'did:web:svc.example#receipt-1', publicKey, publicKeyMultibase: encodeMultikey(publicKey) },
  ...{ canSign: true, time: { fromMs: null, untilMs: null, isCompromised: false } },
};
const good = async (bytes: Uint8Array) => new Uint8Array(sign(null, bytes, pair.privateKey));
const never = () => new Promise<never>(() => {});
const fails = async () => Promise.reject(new Error('DisabledException'));
const busy = async () => Promise.reject(new BusyError('ThrottlingException'));

const driverOf = (maxBytes: number | null = null) => {
  const driver = {
    ...{ name: 'the key', maxBytes, deadlineMs: 500 },
    sign: vi.fn<Driver['sign']>(good),
    close: vi.fn(async () => {}),
  };
  return driver;
};
const message = Buffer.from('message');
const codeOf = async (signer: WatchedSigner) =>
  Promise.resolve(signer.sign(message)).then(
    () => 'signed',
    (error: { code?: string }) => error.code,
  );
const lateCodeOf = async (signer: WatchedSigner) => {
  const asked = codeOf(signer);
  await vi.advanceTimersByTimeAsync(500);
  return asked;
};

it('a signature that misses its deadline fails, and the call to the driver is aborted', async () => {
  const driver = driverOf();
  const signer = await watchSigner(driver, key);
  driver.sign.mockImplementation(never);
  expect(await lateCodeOf(signer)).toBe('SERVICE_UNAVAILABLE');
  expect(driver.sign.mock.lastCall?.[1].aborted).toBe(true);
  await signer.close();
});

it('three failures in a row are reported as a fault of the signer, which is retried until it signs again', async () => {
  const driver = driverOf();
  const signer = await watchSigner(driver, key);
  driver.sign.mockImplementation(fails);
  await vi.advanceTimersByTimeAsync(600);
  expect([await codeOf(signer), await codeOf(signer)]).toEqual([
    'SERVICE_UNAVAILABLE',
    'SERVICE_UNAVAILABLE',
  ]);
  expect(signer.findFault?.()).toBeNull();
  await codeOf(signer);
  expect(signer.findFault?.()).toBe('the key: DisabledException');
  driver.sign.mockImplementation(good);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(signer.findFault?.()).toBeNull();
  await signer.close();
});

it('throttling is never reported as a fault of the signer', async () => {
  const driver = driverOf();
  const signer = await watchSigner(driver, key);
  driver.sign.mockImplementation(busy);
  await vi.advanceTimersByTimeAsync(600);
  for (let i = 0; i < 10; i++) expect(await codeOf(signer)).toBe('SERVICE_UNAVAILABLE');
  expect(signer.findFault?.()).toBeNull();
  await signer.close();
});

it('many late calls at once are not reported as a fault if another call succeeds meanwhile', async () => {
  const driver = driverOf();
  const signer = await watchSigner(driver, key);
  driver.sign.mockImplementation(never);
  const asked = Array.from({ length: 10 }, () => codeOf(signer));
  await vi.advanceTimersByTimeAsync(400);
  driver.sign.mockImplementation(good);
  expect(await codeOf(signer)).toBe('signed');
  await vi.advanceTimersByTimeAsync(100);
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['SERVICE_UNAVAILABLE']));
  expect(signer.findFault?.()).toBeNull();
  await signer.close();
});

it('an idle signer is probed regularly, so that its fault is known before the next decision', async () => {
  const driver = driverOf();
  const signer = await watchSigner(driver, key);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(driver.sign).toHaveBeenCalledTimes(1);
  driver.sign.mockImplementation(fails);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(signer.findFault?.()).toBe('the key: DisabledException');
  await signer.close();
});

it('a signature that does not verify is not returned, and is reported as a fault at once', async () => {
  const driver = driverOf();
  const signer = await watchSigner(driver, key);
  driver.sign.mockImplementation(() => good(Buffer.from('another message')));
  expect(await codeOf(signer)).toBe('SERVICE_UNAVAILABLE');
  expect(signer.findFault?.()).toMatch(/its signature does not verify under x/);
  await signer.close();
});

it('a message that is too long is refused without a call to the driver', async () => {
  const driver = driverOf(32);
  const signer = await watchSigner(driver, key);
  expect(signer.maxBytes).toBe(32);
  await expect(signer.sign(new Uint8Array(33))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(driver.sign).toHaveBeenCalledTimes(1);
  expect(signer.findFault?.()).toBeNull();
  await signer.close();
});

it('a closed signer is not called any more, even if it had failed', async () => {
  const driver = driverOf();
  const signer = await watchSigner(driver, key);
  driver.sign.mockImplementation(fails);
  await codeOf(signer);
  await signer.close();
  driver.sign.mockClear();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(driver.sign).not.toHaveBeenCalled();
});

it('a signer that does not sign at the start is closed, and the start is refused', async () => {
  const driver = driverOf();
  driver.sign.mockImplementation(fails);
  await expect(watchSigner(driver, key)).rejects.toThrow(KeySetError);
  expect(driver.close).toHaveBeenCalledTimes(1);
});
