/**
 * Checks that a Receipt is genuine and is about the HTTP request that was really received (interface §Receipt, protocol
 * §8). The service signs what an Agent's Proof claims. Only the relying party sees the real request, so it recomputes
 * `request_hash` from it. Pure: no clock, no network.
 */
import { type CryptoPort, normalizeHtu, plainObject, portableCrypto, sha256Of } from '@svc/codec';
import { parseAction, requestHashOf } from '@svc/protocol';
import { type Receipt, verifyReceipt } from '@svc/receipts';
import { type AnswerWindow, timeFailures } from './answer-window.ts';
import type { ReceiptFailure } from './receipt-failure.ts';

/** The HTTP request as received: its method, and its absolute URL as the Agent addressed it. */
export interface ReceivedRequest {
  method: string;
  url: string;
}

/** What a Receipt must be about to be accepted. */
export interface ReceiptExpectation {
  /**
   * The service's DID document, or the result of `readServiceKeys` for it, which avoids reading it for each Receipt.
   * This document decides which service is trusted.
   */
  didDocument: unknown;
  /** The DID that `didDocument` must have; not compared unless given. */
  serviceDid?: string | undefined;
  /** This relying party's DID; not compared unless given. */
  relyingParty?: string | undefined;
  /** What was sent to `/verify`. */
  grant: string;
  proof: string;
  action: unknown;
  request: ReceivedRequest;
  /**
   * When the Receipt may have been evaluated. Without it a Receipt of any age is accepted: an Action allowed once is
   * then allowed for as long as somebody keeps the answer.
   */
  evaluated?: AnswerWindow | undefined;
  /** Portable JavaScript unless given. */
  crypto?: CryptoPort | undefined;
}

/** The Receipt that the service signed, or everything that is wrong with the value that was given. */
export type ReceiptCheck =
  | { ok: true; receipt: Receipt; decision: 'ALLOW' | 'DENY' }
  | { ok: false; failures: ReceiptFailure[] };

/** The failure code of a genuine Receipt that allows another HTTP request. */
export const REQUEST_HASH_FAILURE = 'request-hash';

/**
 * The Receipt, or everything that is wrong with it. Never throws.
 * @example
 * const request = { method: 'POST', url: 'https://shop.example/orders' };
 * const checked = checkReceipt(receipt, { grant, proof, action, request, didDocument });
 * if (!checked.ok) console.error(checked.failures);
 */
export function checkReceipt(receipt: unknown, expected: ReceiptExpectation): ReceiptCheck {
  const checked = checkAnswer(receipt, expected);
  return checked.ok ? checked : { ok: false, failures: checked.failures };
}

/** As `ReceiptCheck`; a failed check also says whether the signature is valid. */
export type AnswerCheck =
  | Extract<ReceiptCheck, { ok: true }>
  | { ok: false; failures: ReceiptFailure[]; genuine: Receipt | null };

/** As `checkReceipt`, with an `AnswerCheck` as its result. */
export function checkAnswer(receipt: unknown, expected: ReceiptExpectation): AnswerCheck {
  const crypto = expected.crypto ?? portableCrypto;
  const service = expected.serviceDid === undefined ? {} : { serviceDid: expected.serviceDid };
  const verified = verifyReceipt(receipt, expected.didDocument, { crypto, ...service });
  if (!verified.ok) return { ok: false, failures: [...verified.failures], genuine: null };
  const failures = bindingFailures(verified.receipt, expected, crypto);
  if (failures.length > 0) return { ok: false, failures, genuine: verified.receipt };
  return { ok: true, receipt: verified.receipt, decision: verified.receipt.decision };
}

/** How a genuine Receipt differs from what was asked. */
function bindingFailures(
  receipt: Receipt,
  expected: ReceiptExpectation,
  crypto: CryptoPort,
): ReceiptFailure[] {
  const failures: ReceiptFailure[] = [];
  const fail = (code: string, message: string, path: string) => failures.push({ code, message, path });
  if (receipt.grant_hash !== sha256Of(crypto, expected.grant)) {
    fail('grant-hash', 'the Receipt is about another Grant', '/grant_hash');
  }
  if (receipt.proof_hash !== sha256Of(crypto, expected.proof)) {
    fail('proof-hash', 'the Receipt is about another Proof', '/proof_hash');
  }
  if (expected.relyingParty !== undefined && receipt.relying_party !== expected.relyingParty) {
    fail('relying-party', 'the Receipt is for another relying party', '/relying_party');
  }
  // A DENY needs no match: an Agent that signed for another request is denied anyway.
  const hash = receipt.decision === 'ALLOW' ? hashRequest(expected, crypto) : receipt.request_hash;
  if (hash !== receipt.request_hash) {
    fail(REQUEST_HASH_FAILURE, 'the Receipt is about another HTTP request', '/request_hash');
  }
  failures.push(...timeFailures(receipt, expected.evaluated));
  return failures;
}

/** Null, which equals no hash, if no Proof can exist for this request or Action. */
function hashRequest({ action, request }: ReceiptExpectation, crypto: CryptoPort): string | null {
  const normalizedHtu = normalizeHtu(request.url);
  const parsed = parseAction(plainObject(action));
  if (normalizedHtu === null || !parsed.ok) return null;
  return requestHashOf(crypto, { action: parsed.value, htm: request.method, normalizedHtu });
}
