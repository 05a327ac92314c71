import { startServer } from '@svc/testkit/sdk/scripted-server';
import { describe, expect, it } from 'vitest';
import { checkReceipt, createVerifier, ReceiptError, SvcError, type VerifierOptions } from '../src/index.ts';
import { decide, grant, NOW_MS, newProof, order, request, SERVICE, SHOP, serviceDocument } from './world.ts';

const YEAR_MS = 365 * 86_400_000;
const MINUTE_MS = 60_000;

const input = async () => ({ grant, proof: await newProof(), action: order, request });

/** The result for an ALLOW of `NOW_MS` of a call that begins at `beganMs` and is answered `tookMs` later. */
const askedAt = async (
  beganMs: number,
  options: Partial<VerifierOptions> = {},
  { tookMs = 0, headers = {}, idempotencyKey }: Partial<Asked> = {},
) => {
  const one = await input();
  const allow = await decide(one, false);
  let nowMs = beganMs;
  await using server = await startServer(() => {
    nowMs += tookMs;
    return { json: allow, headers };
  });
  const verifier = createVerifier({
    ...{ baseUrl: server.baseUrl, apiKey: 'dk_rp_test', didDocument: serviceDocument },
    ...{ serviceDid: SERVICE, relyingParty: SHOP, now: () => nowMs, ...options },
  });
  const named = idempotencyKey === undefined ? {} : { idempotencyKey };
  const verdict = await verifier.verify(one, named).catch((error: unknown) => error);
  return { verdict, receipt: allow, received: server.received };
};
interface Asked {
  tookMs: number;
  headers: Record<string, string>;
  idempotencyKey: string;
}

const FRESH = { allowed: true, idempotentReplay: false };
const OLD = { kind: 'receipt-invalid', cause: [expect.objectContaining({ code: 'old-answer' })] };
const AHEAD = { kind: 'receipt-invalid', cause: [expect.objectContaining({ code: 'clock-behind' })] };

describe('a kept answer', () => {
  it.each([
    ['31 s', 31_000],
    ['ten minutes', 10 * MINUTE_MS],
    ['a year', YEAR_MS],
  ])('is refused %s later, although it is genuine and for this request', async (_, laterMs) => {
    const { verdict } = await askedAt(NOW_MS + laterMs);
    expect(verdict).toBeInstanceOf(SvcError);
    expect(verdict).toMatchObject(OLD);
  });

  it('is refused although its sender marks it as an idempotent repeat', async () => {
    const headers = { 'svc-idempotent-replay': 'true' };
    expect((await askedAt(NOW_MS + MINUTE_MS, {}, { headers })).verdict).toMatchObject(OLD);
  });

  it('is refused too if it is a DENY', async () => {
    const one = await input();
    const deny = await decide(one, true);
    await using server = await startServer([{ json: deny }]);
    const verifier = createVerifier({
      ...{ baseUrl: server.baseUrl, apiKey: 'k', didDocument: serviceDocument },
      now: () => NOW_MS + MINUTE_MS,
    });
    await expect(verifier.verify(one)).rejects.toMatchObject(OLD);
  });
});

describe('the time of an answer:', () => {
  it.each([
    ['30 s before the call is accepted', NOW_MS + 30_000, 0, FRESH],
    ['30.001 s before the call is refused', NOW_MS + 30_001, 0, OLD],
    ['5 s after the answer came is accepted', NOW_MS - 5_000, 0, FRESH],
    ['5.001 s after the answer came is refused', NOW_MS - 5_001, 0, AHEAD],
    ['within a call of 60 s is accepted', NOW_MS - 60_000, 60_000, FRESH],
    ['is compared with the beginning of the call, not its end', NOW_MS + 20_000, 60_000, FRESH],
  ])('%s', async (_, beganMs, tookMs, expected) => {
    expect((await askedAt(beganMs, {}, { tookMs })).verdict).toMatchObject(expected);
  });

  it('bounds can be set, up to five minutes', async () => {
    expect((await askedAt(NOW_MS + 1_001, { serviceClockBehindMs: 1_000 })).verdict).toMatchObject(OLD);
    expect((await askedAt(NOW_MS + 300_000, { serviceClockBehindMs: 300_000 })).verdict).toMatchObject(FRESH);
    expect((await askedAt(NOW_MS - 1, { serviceClockAheadMs: 0 })).verdict).toMatchObject(AHEAD);
    expect((await askedAt(NOW_MS - 300_000, { serviceClockAheadMs: 300_000 })).verdict).toMatchObject(FRESH);
  });

  it('the error names the clock that is wrong, and the times', async () => {
    const behind = await askedAt(NOW_MS - MINUTE_MS);
    expect(behind.verdict).toMatchObject({
      message: expect.stringMatching(
        /evaluated at 2026-11-20T08:00:00.750Z, after 2026-11-20T07:59:05.750Z, .* the clock here is behind the service's/,
      ),
    });
    const ahead = await askedAt(NOW_MS + MINUTE_MS);
    expect(ahead.verdict).toMatchObject({
      message: expect.stringMatching(
        /before 2026-11-20T08:00:30.750Z, .* answer to an earlier call, or the clock here is ahead of the service's/,
      ),
    });
  });
});

it.each([-6_000, 31_000])(
  'an answer that is refused for a clock off by %d ms is in the error, so that its budget can be given back',
  async (offMs) => {
    const { verdict, receipt } = await askedAt(NOW_MS + offMs);
    expect(verdict).toBeInstanceOf(ReceiptError);
    expect(verdict).toMatchObject({
      kind: 'receipt-invalid',
      receipt,
      receiptId: receipt.receipt_id,
      message: expect.stringContaining(`the Receipt ${receipt.receipt_id} cannot be trusted`),
    });
  },
);

describe('an idempotent repeat', () => {
  const idempotencyKey = 'order-7';

  it('is accepted for ten minutes where the caller gives its key, and has idempotentReplay set', async () => {
    const { verdict, received } = await askedAt(NOW_MS + 10 * MINUTE_MS, {}, { idempotencyKey });
    expect(verdict).toMatchObject({ allowed: true, idempotentReplay: true });
    expect(received[0]?.headers['idempotency-key']).toBe(idempotencyKey);
    const late = await askedAt(NOW_MS + 10 * MINUTE_MS + 30_001, {}, { idempotencyKey });
    expect(late.verdict).toMatchObject(OLD);
  });

  it('has idempotentReplay set where only the service says so', async () => {
    const headers = { 'svc-idempotent-replay': 'true' };
    expect((await askedAt(NOW_MS, {}, { headers })).verdict).toMatchObject({ idempotentReplay: true });
    expect((await askedAt(NOW_MS, {}, { idempotencyKey })).verdict).toMatchObject(FRESH);
  });

  it.each(['', 'a b', 'x'.repeat(65), 7])('with the key %j is not sent', async (key) => {
    const { verdict, received } = await askedAt(NOW_MS, {}, { idempotencyKey: key as string });
    expect(verdict).toMatchObject({
      kind: 'invalid-argument',
      message: expect.stringMatching(/^idempotencyKey must be/),
    });
    expect(received).toEqual([]);
  });
});

it('checkReceipt compares the evaluation time with the given window, and with none where none is given', async () => {
  const one = await input();
  const receipt = await decide(one, false);
  const expected = { ...one, didDocument: serviceDocument };
  expect(checkReceipt(receipt, expected).ok).toBe(true);
  const around = { notBeforeMs: NOW_MS, notAfterMs: NOW_MS };
  expect(checkReceipt(receipt, { ...expected, evaluated: around }).ok).toBe(true);
  for (const [evaluated, code] of [
    [{ ...around, notBeforeMs: NOW_MS + 1 }, 'old-answer'],
    [{ ...around, notAfterMs: NOW_MS - 1 }, 'clock-behind'],
    [{ notBeforeMs: Number.NaN, notAfterMs: Number.NaN }, 'old-answer'],
  ] as const)
    expect(checkReceipt(receipt, { ...expected, evaluated })).toMatchObject({
      ok: false,
      failures: [{ code }],
    });
});
