/** A Proof that is not about the HTTP request in hand (interface §Verify): which of the two is which. */
import { type JsonValue, normalizeHtu } from '@svc/codec';
import { parseProof } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import { SvcError } from '@svc/sdk-core';
import type { ReceivedRequest } from './check-receipt.ts';

/** `instanceof` asks for this mark and not for the class, so it knows errors of another copy of the package. */
const MARK = Symbol.for('@svc/RequestMismatchError');

/** A Proof for another HTTP request than the one received: the Agent's doing, or a wrong `url` here. */
export class RequestMismatchError extends SvcError {
  /**
   * The service's genuine ALLOW of the other request. Null where it was not asked, as always when the Proof itself
   * names another request.
   */
  readonly receipt: Receipt | null;
  /** That of `receipt`. */
  readonly receiptId: string | null;
  /** URLs without query and fragment, which nobody signs. */
  readonly received: ReceivedRequest;
  /** What the Proof says, or null if it cannot be read. Without a Receipt nobody has verified that it was signed. */
  readonly signedFor: ReceivedRequest | null;
  constructor(receipt: Receipt | null, received: ReceivedRequest, signedFor: ReceivedRequest | null) {
    super('request-mismatch', mismatchMessage(received, signedFor));
    Object.defineProperty(this, MARK, { value: true });
    this.receipt = receipt;
    this.receiptId = receipt?.receipt_id ?? null;
    this.received = received;
    this.signedFor = signedFor;
  }

  /** A class that extends it is asked as any other. */
  static override [Symbol.hasInstance](this: unknown, value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: it is which class asks
    const asked = this as object;
    if (asked !== RequestMismatchError) return Function.prototype[Symbol.hasInstance].call(asked, value);
    return typeof value === 'object' && value !== null && MARK in value;
  }
}

/** What a refusal says of a mismatch. */
export type Mismatch = Pick<RequestMismatchError, 'message' | 'receipt' | 'receiptId' | 'signedFor'>;

/**
 * What was thrown, where it says that the Proof is for another request; else null. A verifier may be of another copy of the
 * package, or of an older version: what it does not say is not known.
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
 * What a Proof says of itself, before it is asked about: one for another request would be spent, and its budget drawn,
 * for nothing. Nothing is trusted for it: null where no difference is seen, and what passes is verified and compared
 * all the same.
 */
export function mismatchBeforeVerify(proof: string, request: ReceivedRequest): RequestMismatchError | null {
  const [received, signedFor] = compared(proof, request);
  const isOther =
    signedFor !== null && (signedFor.method !== received.method || signedFor.url !== received.url);
  return isOther ? new RequestMismatchError(null, received, signedFor) : null;
}

/** The Receipt is genuine and about this Proof, so what the Proof says is what was signed. */
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
