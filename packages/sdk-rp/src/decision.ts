/** One decision of the relying party: its Receipt, checked, and its outcome ledger (interface §Decisions). */
import type { Receipt } from '@svc/receipts';
import {
  type Attestation,
  aReceiptId,
  type CallOptions,
  checkValue,
  fetchDecision,
  type Transport,
} from '@svc/sdk-core';
import { checkStoredReceipt, type Trust, type Voucher } from './trust.ts';

/** A decision of this relying party, with what was reported about it. */
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
  const keys = await trust.documents.get();
  const { receipt, outcomes } = await fetchDecision(transport, `/decisions/${receiptId}`, call);
  const findVoucher = () => fetchVoucher(transport, receiptId, call);
  return { receipt: await checkStoredReceipt(trust, keys, { receiptId, receipt }, findVoucher), outcomes };
}

/** Null while the day of the decision is open. */
async function fetchVoucher(
  transport: Transport,
  receiptId: string,
  call: CallOptions,
): Promise<Voucher | null> {
  const ask = (what: 'inclusion' | 'attestation') =>
    transport.send({
      method: 'GET',
      path: `/decisions/${receiptId}/${what}`,
      isPublic: true,
      hasEffect: false,
      mayBePending: true,
      ...call,
    });
  const [inclusion, attestation] = await Promise.all([ask('inclusion'), ask('attestation')]);
  if (inclusion.status === 202 || attestation.status === 202) return null;
  return { inclusion: inclusion.body, attestation: attestation.body };
}
