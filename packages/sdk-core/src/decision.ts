/** One decision with its outcome ledger, as the service keeps it (interface §Decisions). */
import { isReceiptId } from '@svc/protocol';
import { rule } from './arguments.ts';
import type { CallOptions } from './call-options.ts';
import { readDecision } from './readers.generated.ts';
import type { Transport } from './transport.ts';
import type { Decision } from './wire.generated.ts';

/** What names a decision, wherever the caller gives it. */
export const aReceiptId = rule('the receipt_id of a Receipt, drc_ and 26 characters', isReceiptId);

/** A Receipt, and 100 attestations with long texts. */
const MAX_DECISION_BYTES = 8_388_608;

/** `path`: where the decision is. Whose Receipt came is for the caller to check. */
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
