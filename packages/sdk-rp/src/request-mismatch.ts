/** A genuine ALLOW that is not about the HTTP request in hand (interface §Verify): which of the two is which. */
import { type JsonValue, normalizeHtu } from '@svc/codec';
import { parseProof } from '@svc/protocol';
import { SvcError } from '@svc/sdk-core';
import type { ReceivedRequest } from './check-receipt.ts';

/** A genuine ALLOW for another HTTP request than the one received: the Agent's doing, or a wrong `url` here. */
export class RequestMismatchError extends SvcError {
  readonly receiptId: string | null;
  /** URLs without query and fragment, which nobody signs. */
  readonly received: ReceivedRequest;
  /** What the Proof says, or null if it cannot be read. */
  readonly signedFor: ReceivedRequest | null;
  constructor(receiptId: string | null, received: ReceivedRequest, signedFor: ReceivedRequest | null) {
    super('request-mismatch', mismatchMessage(received, signedFor));
    this.receiptId = receiptId;
    this.received = received;
    this.signedFor = signedFor;
  }
}

/**
 * What a Proof says of itself, before it is asked about: one for another request would be spent, and its budget drawn, for nothing.
 * Nothing is trusted for it: null where no difference is seen, and what passes is verified and compared all the same.
 */
export function mismatchBeforeVerify(
  proof: string,
  { method, url }: ReceivedRequest,
): RequestMismatchError | null {
  const parsed = parseProof(proof);
  if (!parsed.ok) return null;
  const received = { method, url: normalizeHtu(url) ?? url };
  const signedFor = { method: parsed.value.htm, url: parsed.value.normalizedHtu };
  if (signedFor.method === received.method && signedFor.url === received.url) return null;
  return new RequestMismatchError(null, received, signedFor);
}

/** The Receipt is genuine and about this Proof, so what the Proof says is what was signed. */
export function requestMismatch(
  body: JsonValue,
  proof: string,
  { method, url }: ReceivedRequest,
): RequestMismatchError {
  const receiptId = Object(body).receipt_id as unknown;
  const parsed = parseProof(proof);
  return new RequestMismatchError(
    typeof receiptId === 'string' ? receiptId : null,
    { method, url: normalizeHtu(url) ?? url },
    parsed.ok ? { method: parsed.value.htm, url: parsed.value.normalizedHtu } : null,
  );
}

function mismatchMessage(received: ReceivedRequest, signedFor: ReceivedRequest | null): string {
  const what = 'the Proof was made for another HTTP request than the one received';
  const signed = signedFor === null ? '' : `signed for ${signedFor.method} ${signedFor.url}, `;
  const cause =
    signedFor?.url === received.url ? '' : '; usually the origin or url set at the relying party is wrong';
  return `${what}: ${signed}received ${received.method} ${received.url}${cause}`;
}
