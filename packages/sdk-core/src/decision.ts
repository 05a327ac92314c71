/** One decision with its outcome ledger, as the service stores it (interface §Decisions). */
import { isReceiptId } from '@svc/protocol';
import { rule } from './arguments.ts';
import type { CallOptions } from './call-options.ts';
import { readDecision } from './readers.generated.ts';
import type { Transport } from './transport.ts';
import type { Decision } from './wire.generated.ts';

/** The id of a decision, wherever the caller passes one. */
export const aReceiptId = rule('the receipt_id of a Receipt, drc_ and 26 characters', isReceiptId);

/** Room for a Receipt and 100 attestations that contain long texts. */
const MAX_DECISION_BYTES = 8_388_608;

/** Fetches the decision at `path`. The caller must check which Receipt came. */
export async function fetchDecision(
  transport: Transport,
  path: string,
  call: CallOptions,
): Promise<Decision> {
  const { body } = await transport.send({
    ...{ method: 'GET', path, hasEffect: false, maxResponseBytes: MAX_DECISION_BYTES },
    ...call,
  });
  return readDecision(body, 'the decision');
}
