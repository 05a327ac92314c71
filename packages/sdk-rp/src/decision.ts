/** One decision of the relying party: its checked Receipt and its outcome ledger (interface §Decisions). */
import type { Receipt } from '@svc/receipts';
import {
  type Attestation,
  aReceiptId,
  type CallOptions,
  checkValue,
  fetchDecision,
  type Transport,
  type WholeCall,
} from '@svc/sdk-core';
import { checkStoredReceipt, type Trust, type Voucher } from './trust.ts';

/** A decision of this relying party, with the outcomes reported about it. */
export interface Decision {
  receipt: Receipt;
  /** The outcome ledger. */
  outcomes: Attestation[];
}

export async function getDecision(
  transport: Transport,
  trust: Trust,
  receiptId: string,
  call: CallOptions,
): Promise<Decision> {
  checkValue('receiptId', receiptId, aReceiptId);
  return transport.whole(call, async (whole) => {
    const keys = await whole.wait(() => trust.documents.get());
    const { receipt, outcomes } = await fetchDecision(transport, `/decisions/${receiptId}`, whole.rest());
    const findVoucher = () => fetchVoucher(transport, receiptId, whole);
    const shown = { receiptId, receipt };
    return { receipt: await checkStoredReceipt({ whole, trust, keys }, shown, findVoucher), outcomes };
  });
}

/** Null while the day of the decision is not closed. */
async function fetchVoucher(
  transport: Transport,
  receiptId: string,
  whole: WholeCall,
): Promise<Voucher | null> {
  const ask = (what: 'inclusion' | 'attestation') =>
    transport.send({
      method: 'GET',
      path: `/decisions/${receiptId}/${what}`,
      isPublic: true,
      hasEffect: false,
      mayBePending: true,
      ...whole.rest(),
    });
  const [inclusion, attestation] = await Promise.all([ask('inclusion'), ask('attestation')]);
  if (inclusion.status === 202 || attestation.status === 202) return null;
  return { inclusion: inclusion.body, attestation: attestation.body };
}
