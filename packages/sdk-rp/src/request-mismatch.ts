/** Errors for a Proof that is not about the received HTTP request (interface §Verify); they name both requests. */
import { isMarked, type JsonValue, normalizeHtu } from '@svc/codec';
import { parseProof } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import { SvcError } from '@svc/sdk-core';
import type { ReceivedRequest } from './check-receipt.ts';

/** `instanceof` tests for this mark instead of the class, so it recognises errors of another copy of the package. */
const MARK = Symbol.for('@svc/RequestMismatchError');

/**
 * The Proof is for another HTTP request than the one received. Either the Agent is at fault, or `url` is wrong here.
 */
export class RequestMismatchError extends SvcError {
  /**
   * The service's genuine ALLOW for the other request. Null if the service was not asked, which is always so when the
   * Proof itself names another request.
   */
  readonly receipt: Receipt | null;
  /** The id of `receipt`. */
  readonly receiptId: string | null;
  /** The request received, its URL without query and fragment, which Proofs do not cover. */
  readonly received: ReceivedRequest;
  /**
   * The request that the Proof names, or null if the Proof is unreadable. Without a Receipt its signature is not
   * verified.
   */
  readonly signedFor: ReceivedRequest | null;
  constructor(receipt: Receipt | null, received: ReceivedRequest, signedFor: ReceivedRequest | null) {
    super('request-mismatch', mismatchMessage(received, signedFor));
    Object.defineProperty(this, MARK, { value: true });
    this.receipt = receipt;
    this.receiptId = receipt?.receipt_id ?? null;
    this.received = received;
    this.signedFor = signedFor;
  }

  /** A subclass keeps the default `instanceof`. */
  static override [Symbol.hasInstance](this: unknown, value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: it is which class asks
    return isMarked(this, RequestMismatchError, MARK, value);
  }
}

/** The members of a mismatch that a refusal uses. */
export type Mismatch = Pick<RequestMismatchError, 'message' | 'receipt' | 'receiptId' | 'signedFor'>;

/**
 * The error as a mismatch, if it says that the Proof is for another request; else null. The verifier may come from
 * another copy or an older version of the package, so members that it does not set are null.
 */
export function mismatchOf(error: unknown): Mismatch | null {
  if (!(error instanceof SvcError) || error.kind !== 'request-mismatch') return null;
  const {
    message,
    receipt = null,
    receiptId = null,
    signedFor = null,
  } = error as Partial<Mismatch> & SvcError;
  return { message, receipt, receiptId, signedFor };
}

/**
 * Compares the request that the Proof names with the received one, before the service is asked. A Proof for another
 * request would be spent, and its budget drawn, for nothing. Null if no difference is found. Nothing relies on this
 * check: the Proof is verified and compared later anyway.
 */
export function mismatchBeforeVerify(proof: string, request: ReceivedRequest): RequestMismatchError | null {
  const [received, signedFor] = compared(proof, request);
  const isOther =
    signedFor !== null && (signedFor.method !== received.method || signedFor.url !== received.url);
  return isOther ? new RequestMismatchError(null, received, signedFor) : null;
}

/** The Receipt is genuine and about this Proof, so the request in the Proof is the signed one. */
export const requestMismatch = (
  genuine: JsonValue,
  proof: string,
  request: ReceivedRequest,
): RequestMismatchError =>
  new RequestMismatchError(genuine as unknown as Receipt, ...compared(proof, request));

function compared(
  proof: string,
  { method, url }: ReceivedRequest,
): [received: ReceivedRequest, signedFor: ReceivedRequest | null] {
  const parsed = parseProof(proof);
  return [
    { method, url: normalizeHtu(url) ?? url },
    parsed.ok ? { method: parsed.value.htm, url: parsed.value.normalizedHtu } : null,
  ];
}

function mismatchMessage(received: ReceivedRequest, signedFor: ReceivedRequest | null): string {
  const what = 'the Proof was made for another HTTP request than the one received';
  const signed = signedFor === null ? '' : `made for ${signedFor.method} ${signedFor.url}, `;
  const cause =
    signedFor?.url === received.url ? '' : '; usually the origin or url set at the relying party is wrong';
  return `${what}: ${signed}received ${received.method} ${received.url}${cause}`;
}
