/** One decision of the relying party: its Receipt, checked, and its outcome ledger (interface §Decisions). */
import type { Receipt } from '@svc/receipts';
import { type Attestation, type CallOptions, checkValue, readDecision, type Transport } from '@svc/sdk-core';
import { aReceiptId } from './receipt-id.ts';
import { checkStoredReceipt, type Trust } from './trust.ts';

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
  return { receipt: await checkStoredReceipt(trust, keys, receiptId, { receipt }), outcomes };
}
