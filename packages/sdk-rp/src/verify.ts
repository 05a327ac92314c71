/**
 * One verification (interface §Verify). A verdict is a value; everything that is not a genuine Receipt about the request
 * in hand is an error. No path leads from an error to an ALLOW.
 */
import type { JsonValue } from '@svc/codec';
import type { Capability, ReasonCode } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import { type CallOptions, randomToken, type Transport } from '@svc/sdk-core';
import { checkReceipt, REQUEST_HASH_FAILURE, type ReceiptCheck } from './check-receipt.ts';
import { requestMismatch } from './request-mismatch.ts';
import { checkWithRenewal, receiptError, type Trust } from './trust.ts';
import { type CheckedInput, readVerifyInput, type VerifyInput } from './verify-input.ts';

/** `allowed` only with a genuine Receipt about exactly this request. */
export type Verdict =
  | { allowed: true; decision: 'ALLOW'; receipt: Receipt; authority: Capability }
  | { allowed: false; decision: 'DENY'; receipt: Receipt; reason: ReasonCode };

export async function verify(
  transport: Transport,
  trust: Trust,
  input: VerifyInput,
  call: CallOptions,
): Promise<Verdict> {
  const checked = readVerifyInput(input);
  const { grant, proof, action } = checked;
  // Had before the Proof is spent: a verdict that cannot be checked would be of no use.
  const didDocument = await trust.documents.get();
  const { body } = await transport.send({
    method: 'POST',
    path: '/verify',
    body: { grant, proof, action },
    headers: { 'idempotency-key': newIdempotencyKey() },
    hasEffect: true,
    ...call,
  });
  const { serviceDid, relyingParty, crypto } = trust;
  const check = (didDocument: unknown): ReceiptCheck =>
    checkReceipt(body, { ...checked, didDocument, serviceDid, relyingParty, crypto });
  return readVerdict(await checkWithRenewal(trust, didDocument, check), body, checked);
}

function readVerdict(check: ReceiptCheck, body: JsonValue, { proof, request }: CheckedInput): Verdict {
  if (!check.ok) {
    const { failures } = check;
    if (failures.every(({ code }) => code === REQUEST_HASH_FAILURE))
      throw requestMismatch(body, proof, request);
    throw receiptError(failures);
  }
  const { receipt } = check;
  if (check.decision === 'ALLOW' && receipt.authority) {
    return { allowed: true, decision: 'ALLOW', receipt, authority: receipt.authority };
  }
  if (check.decision === 'DENY' && receipt.reason !== null) {
    return { allowed: false, decision: 'DENY', receipt, reason: receipt.reason };
  }
  throw receiptError([{ code: 'decision', message: 'the decision contradicts itself' }]);
}

/**
 * New for every verify and kept for its retries only. Never derived from the Proof: a replayed Proof would then be
 * answered with the first one's stored ALLOW.
 */
const newIdempotencyKey = (): string => randomToken();
