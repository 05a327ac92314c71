/** A decision as one file that can be checked offline, even years later (interface §Transparency, protocol §12). */
import { type JsonObject, parseTimestamp } from '@svc/codec';
import type { Receipt } from '@svc/receipts';
import {
  aReceiptId,
  type CallOptions,
  checkValue,
  jsonObject,
  SvcError,
  type Transport,
  type WholeCall,
} from '@svc/sdk-core';
import { checkStoredReceipt, type Trust } from './trust.ts';

/** `pending` until the UTC day of the decision is closed, some minutes after the end of that day. */
export type DecisionBundle =
  | {
      state: 'ready';
      /** Input of `svc-receipt verify --bundle`: write it to a file as JSON. */
      bundle: JsonObject;
      /** The Receipt in the bundle, checked. */
      receipt: Receipt;
    }
  | { state: 'pending'; day: string };

/** The largest bundle that `@svc/receipts/bundle` reads. */
const MAX_BUNDLE_BYTES = 16_777_216;
const isDay = (value: unknown): value is string =>
  typeof value === 'string' && parseTimestamp(`${value}T00:00:00Z`) !== null;

export async function getDecisionBundle(
  transport: Transport,
  trust: Trust,
  receiptId: string,
  call: CallOptions,
): Promise<DecisionBundle> {
  checkValue('receiptId', receiptId, aReceiptId);
  return transport.whole(call, (whole) => readBundle(transport, trust, receiptId, whole));
}

async function readBundle(
  transport: Transport,
  trust: Trust,
  receiptId: string,
  whole: WholeCall,
): Promise<DecisionBundle> {
  const keys = await whole.wait(() => trust.documents.get());
  const answer = await transport.send({
    method: 'GET',
    path: `/decisions/${receiptId}/bundle`,
    hasEffect: false,
    mayBePending: true,
    maxResponseBytes: MAX_BUNDLE_BYTES,
    ...whole.rest(),
  });
  const body = jsonObject(answer.body, 'the bundle');
  if (answer.status === 202) {
    const { receipt_id: pendingId, day } = body;
    if (pendingId !== receiptId || !isDay(day))
      throw new SvcError('bad-response', 'the service answered about another decision', answer);
    return { state: 'pending', day };
  }
  const receiptShown = jsonObject(body.receipt, 'the bundle.receipt');
  const { inclusion, attestation } = body;
  const voucher = inclusion === undefined ? null : { inclusion, attestation };
  const shown = { receiptId, receipt: receiptShown };
  const receipt = await checkStoredReceipt({ whole, trust, keys }, shown, () => Promise.resolve(voucher));
  return { state: 'ready', bundle: body, receipt };
}
