/** The answer to `POST /verify`, and the look-up of a stored answer by its `Idempotency-Key`. */
import type { DidWeb, ReceiptBody, ReceiptId } from '@svc/protocol';
import { receiptTextOf } from '@svc/receipts';
import { conflict, internal } from '../errors.ts';
import type { VerifyStore } from '../ports/verify-store.ts';

export interface Idempotency {
  readonly key: string;
  /** SHA-256 of the request body as received, hex. */
  readonly bodyHash: string;
}

export interface VerifyAnswer {
  /** The Receipt as JSON text. */
  readonly text: string;
  readonly receiptId: ReceiptId;
  readonly decision: 'ALLOW' | 'DENY';
  readonly reason: string | null;
  /** True when this is the stored answer to an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** The relying party, its org or the whole service was paused. The Receipt does not say so. */
  readonly isAskerPaused: boolean;
}

/** Null: no answer is stored under the key. Throws `CONFLICT` where the key was used with another body. */
export const findStoredAnswer = async (
  store: Pick<VerifyStore, 'findIdempotent'>,
  relyingParty: DidWeb,
  idempotency: Idempotency,
): Promise<VerifyAnswer | null> => {
  const stored = await store.findIdempotent(relyingParty, idempotency.key);
  if (stored === null) return null;
  if (stored.bodyHash !== idempotency.bodyHash)
    throw conflict(
      'Idempotency-Key: this key was used with another body in the last 10 minutes; use a fresh one.',
    );
  const text = receiptTextOf(stored.receipt.jws);
  if (text === null) throw internal(`stored receipt ${stored.receipt.receiptId}`);
  const { decision, reason } = JSON.parse(text) as Pick<ReceiptBody, 'decision' | 'reason'>;
  return {
    text,
    receiptId: stored.receipt.receiptId,
    decision,
    reason,
    replayed: true,
    isAskerPaused: false,
  };
};
