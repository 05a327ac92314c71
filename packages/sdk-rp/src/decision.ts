/** One decision of the relying party: its Receipt, checked, and its outcome ledger (interface §Decisions). */
import type { Receipt } from '@svc/receipts';
import { type Attestation, type CallOptions, checkValue, readDecision, type Transport } from '@svc/sdk-core';
import { aReceiptId } from './receipt-id.ts';
import { checkStoredReceipt, type Trust, type Voucher } from './trust.ts';

/** A decision of this relying party, with what was reported about it. */
export interface Decision {
  receipt: Receipt;
  /** The outcome ledger. */
  outcomes: Attestation[];
}

/** A Receipt, and 100 attestations with long texts. */
const MAX_DECISION_BYTES = 8_388_608;

export async function getDecision(
  transport: Transport,
  trust: Trust,
  receiptId: string,
  call: CallOptions,
): Promise<Decision> {
  checkValue('receiptId', receiptId, aReceiptId);
  const path = `/decisions/${receiptId}`;
  const keys = await trust.documents.get();
  const { body } = await transport.send({
    method: 'GET',
    path,
    hasEffect: false,
    maxResponseBytes: MAX_DECISION_BYTES,
    ...call,
  });
  const { receipt, outcomes } = readDecision(body, 'the decision');
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
