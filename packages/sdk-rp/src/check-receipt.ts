/**
 * Whether a Receipt is genuine and about the request that was really received (interface §Receipt, protocol §8).
 * The service signs what an Agent's Proof claims; only the relying party can see that the claim is about the HTTP
 * request in front of it, so it recomputes `request_hash` from that request. Pure: no clock, no network.
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

/** What a Receipt must be about to be believed. */
export interface ReceiptExpectation {
  /**
   * The service's DID document, or what `readServiceKeys` made of it, which saves reading it for each Receipt. Whoever
   * supplies it decides which service is believed.
   */
  didDocument: unknown;
  /** The DID that `didDocument` must be of; not compared unless given. */
  serviceDid?: string | undefined;
  /** This relying party's DID; not compared unless given. */
  relyingParty?: string | undefined;
  /** What was sent to `/verify`. */
  grant: string;
  proof: string;
  action: unknown;
  request: ReceivedRequest;
  /**
   * When it may have been evaluated. Without it a Receipt of any age counts: what was allowed once is then allowed for as
   * long as somebody keeps the answer.
   */
  evaluated?: AnswerWindow | undefined;
  /** Portable JavaScript unless given. */
  crypto?: CryptoPort | undefined;
}

/** The Receipt that the service signed, or everything that is wrong with what was handed in. */
export type ReceiptCheck =
  | { ok: true; receipt: Receipt; decision: 'ALLOW' | 'DENY' }
  | { ok: false; failures: ReceiptFailure[] };

/** The failure code of a Receipt that allows, genuinely, but another HTTP request. */
export const REQUEST_HASH_FAILURE = 'request-hash';

/**
 * All that is wrong with the Receipt, or the Receipt. Never throws.
 * @example
 * const request = { method: 'POST', url: 'https://shop.example/orders' };
 * const checked = checkReceipt(receipt, { grant, proof, action, request, didDocument });
 * if (!checked.ok) console.error(checked.failures);
 */
export function checkReceipt(receipt: unknown, expected: ReceiptExpectation): ReceiptCheck {
  const checked = checkAnswer(receipt, expected);
  return checked.ok ? checked : { ok: false, failures: checked.failures };
}

/** The same; what does not count is told apart by whether its signature is right. */
export type AnswerCheck =
  | Extract<ReceiptCheck, { ok: true }>
  | { ok: false; failures: ReceiptFailure[]; genuine: Receipt | null };

/** As `checkReceipt`. */
export function checkAnswer(receipt: unknown, expected: ReceiptExpectation): AnswerCheck {
  const crypto = expected.crypto ?? portableCrypto;
  const service = expected.serviceDid === undefined ? {} : { serviceDid: expected.serviceDid };
  const verified = verifyReceipt(receipt, expected.didDocument, { crypto, ...service });
  if (!verified.ok) return { ok: false, failures: [...verified.failures], genuine: null };
  const failures = bindingFailures(verified.receipt, expected, crypto);
  if (failures.length > 0) return { ok: false, failures, genuine: verified.receipt };
  return { ok: true, receipt: verified.receipt, decision: verified.receipt.decision };
}

/** What a genuine Receipt says about something other than what was asked. */
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
  // A DENY needs no such match: an Agent that signed for another request is denied whatever it signed.
  const hash = receipt.decision === 'ALLOW' ? hashRequest(expected, crypto) : receipt.request_hash;
  if (hash !== receipt.request_hash) {
    fail(REQUEST_HASH_FAILURE, 'the Receipt is about another HTTP request', '/request_hash');
  }
  failures.push(...timeFailures(receipt, expected.evaluated));
  return failures;
}

/** Null, which equals no hash, for a request or an Action that nothing can have been signed for. */
function hashRequest({ action, request }: ReceiptExpectation, crypto: CryptoPort): string | null {
  const normalizedHtu = normalizeHtu(request.url);
  const parsed = parseAction(plainObject(action));
  if (normalizedHtu === null || !parsed.ok) return null;
  return requestHashOf(crypto, { action: parsed.value, htm: request.method, normalizedHtu });
}
