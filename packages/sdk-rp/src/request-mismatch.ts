/** A Proof that is not about the HTTP request in hand (interface §Verify): which of the two is which. */
import { type JsonValue, normalizeHtu } from '@svc/codec';
import { parseProof } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import { SvcError } from '@svc/sdk-core';
import type { ReceivedRequest } from './check-receipt.ts';

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
    this.receipt = receipt;
    this.receiptId = receipt?.receipt_id ?? null;
    this.received = received;
    this.signedFor = signedFor;
  }
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
