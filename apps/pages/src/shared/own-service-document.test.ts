/** How long a tab that stays open uses the keys that it has fetched. */
import {
  bodyOf,
  SERVICE,
  serviceDocument,
  signedReceipt,
  signerOf,
} from '@svc/testkit/receipts/signed-receipts';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { verifyOwnReceipt } from './verify-own-receipt.ts';

const body = bodyOf('allow-purchase');
const receipt = await signedReceipt(body);

const withMethods = (change: (method: { readonly id: string }) => object) => ({
  ...serviceDocument,
  verificationMethod: serviceDocument.verificationMethod.map(change),
});
const leaked = withMethods((method) => ({
  ...method,
  ...(method.id.endsWith('#receipt-1') && { revoked: '2026-11-20T00:00:00Z' }),
}));

let served: object | null;
const fetched = vi.fn(async (_address: string, _init: RequestInit) =>
  served === null ? new Response(null, { status: 503 }) : Response.json(served),
);
/** The module keeps the document between tests, so each test begins an hour after the one before. */
let hours = 0;
beforeEach(() => {
  hours += 1;
  vi.useFakeTimers({ now: Date.parse('2026-11-20T00:00:00Z') + hours * 3_600_000 });
  vi.stubGlobal('fetch', fetched);
  fetched.mockClear();
  served = serviceDocument;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const codes = async (given: object = receipt) => (await verifyOwnReceipt(given)).map(({ code }) => code);

it('a leaked key is accepted for at most five minutes while the tab stays open', async () => {
  expect(await codes()).toEqual([]);
  served = leaked;
  vi.advanceTimersByTime(299_999);
  expect([await codes(), fetched.mock.calls.length]).toEqual([[], 1]);
  vi.advanceTimersByTime(1);
  expect([await codes(), fetched.mock.calls.length]).toEqual([['key-not-in-force'], 2]);
});

it('a Receipt under an unknown key is checked again under a newly fetched document', async () => {
  const later = await signedReceipt(body, undefined, signerOf(1, `${SERVICE}#receipt-2`));
  expect(await codes()).toEqual([]);
  expect([await codes(later), fetched.mock.calls.length]).toEqual([['unknown-key'], 2]);
  const renamed = withMethods((method) => ({ ...method, id: method.id.replace('receipt-1', 'receipt-2') }));
  served = {
    ...renamed,
    assertionMethod: renamed.verificationMethod.map((method) => 'id' in method && method.id),
  };
  expect([await codes(later), fetched.mock.calls.length]).toEqual([[], 3]);
});

it('a document that cannot be fetched is not replaced by an expired one, and is fetched again', async () => {
  expect(await codes()).toEqual([]);
  vi.advanceTimersByTime(300_000);
  served = null;
  await expect(verifyOwnReceipt(receipt)).rejects.toThrow('the service answered 503');
  served = serviceDocument;
  expect([await codes(), fetched.mock.calls.length]).toEqual([[], 3]);
});

it('a failed fetch does not drop a document that is recent enough', async () => {
  expect(await codes()).toEqual([]);
  served = null;
  const later = await signedReceipt(body, undefined, signerOf(1, `${SERVICE}#receipt-2`));
  expect([await codes(later), fetched.mock.calls.length]).toEqual([['unknown-key'], 2]);
  expect([await codes(), fetched.mock.calls.length]).toEqual([[], 2]);
});

it('a fetch of the document is given up after a minute, and repeated at the next call', async () => {
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), ms);
    return controller.signal;
  });
  fetched.mockImplementationOnce(
    (_, { signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
  );
  const givenUp = expect(verifyOwnReceipt(receipt)).rejects.toThrow('The service did not answer.');
  await vi.advanceTimersByTimeAsync(60_000);
  await givenUp;
  expect([await codes(), fetched.mock.calls.length]).toEqual([[], 2]);
});
