/** Signs a Receipt (interface §Receipt). The same body, kid and key give the same result. */
import { type JsonObject, type ReceiptBody, type Signer, signCompactJws } from '@svc/protocol';
import { canonicalText } from './canonical.ts';
import { RECEIPT_TYP } from './receipt.ts';
import { spliceReceipt } from './receipt-text.ts';

/** A Receipt in its stored and in its response form. */
export interface SignedReceipt {
  /** The part to store: `receiptTextOf` rebuilds the text. */
  readonly jws: string;
  /** The response: the body in RFC 8785 form with `receipt` inserted. */
  readonly text: string;
}

const RECEIPT_KID = /^did:web:[^#\s]+#receipt-[1-9][0-9]*$/;

/**
 * Signs the body of a Receipt. Rejects with RangeError if the signer's kid is not `did:web:<domain>#receipt-<n>` or the
 * body has no `receipt_id`, and with whatever the signer throws.
 */
export const signReceipt = async (body: ReceiptBody, signer: Signer): Promise<SignedReceipt> => {
  if (!RECEIPT_KID.test(signer.kid)) throw new RangeError('the kid must be did:web:<domain>#receipt-<n>');
  const bodyText = canonicalText(body as unknown as JsonObject);
  const jws = await signCompactJws(signer, { typ: RECEIPT_TYP }, bodyText);
  const text = spliceReceipt(bodyText, jws);
  if (text === null) throw new RangeError('the body has no receipt_id');
  return { jws, text };
};
