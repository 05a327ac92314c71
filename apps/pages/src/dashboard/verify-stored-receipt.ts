/** Checks in this tab the Receipt of an earlier decision, whose signing key may have expired or leaked since. */
import { isReceiptId } from '@svc/protocol';
import type { Failure } from '@svc/receipts';
import { verifyIncludedReceipt } from '@svc/receipts/inclusion';
import { callApi } from '../shared/api.ts';
import { checkUnderOwnDocument } from '../shared/own-service-document.ts';
import { verifyOwnReceipt } from '../shared/verify-own-receipt.ts';
import type { Attestation, InclusionPending, InclusionProof } from '../shared/wire.ts';

/**
 * The failures and open points; empty where the Receipt is genuine. Where its key is no longer in force, the inclusion
 * proof and the service's attestation decide, which exist once its day is closed.
 */
export const verifyStoredReceipt = async (receipt: {
  readonly receipt_id: string;
}): Promise<readonly Failure<string>[]> => {
  const failures = await verifyOwnReceipt(receipt);
  const isUntimely = failures.length > 0 && failures.every(({ code }) => code === 'key-not-in-force');
  const voucher = isUntimely ? await findVoucher(receipt.receipt_id) : null;
  if (voucher === null) return failures;
  const included = await checkUnderOwnDocument((serviceDidDocument) =>
    verifyIncludedReceipt({ receipt, ...voucher, serviceDidDocument }),
  );
  return included.ok ? [] : included.failures;
};

/** Null where the day is still open, or where they cannot be loaded now. */
const findVoucher = async (id: string) => {
  if (!isReceiptId(id)) return null;
  const ask = <T>(what: string) => callApi<T | InclusionPending>(`decisions/${id}/${what}`);
  const answers = await Promise.all([
    ask<InclusionProof>('inclusion'),
    ask<Attestation>('attestation'),
  ]).catch(() => null);
  if (answers === null) return null;
  const [inclusion, attestation] = answers;
  if (inclusion.status === 202 || attestation.status === 202) return null;
  return { inclusion: inclusion.body, attestation: attestation.body };
};
