/**
 * How an outcome record changes the budget that its Receipt consumed (interface §Outcome attestations, protocol §11).
 * The first `cancelled` record gives the budget back. A correction of that record, of whatever type, takes it again.
 * Each happens once.
 */
import { type ReceiptId, restoreOf, reversalOf } from '@svc/protocol';
import type { ReceiptConsumption } from '../ports/consumption.ts';
import type { OutcomeRecord, OutcomeType } from '../ports/outcomes.ts';
import type { Repositories } from '../ports/store.ts';

interface Reported {
  readonly attestationId: string;
  readonly receiptId: ReceiptId;
  readonly report: { readonly type: OutcomeType; readonly correction_of?: string | undefined };
}

/**
 * Changes the budget; null when the record changes nothing. The caller has locked the ledger of the Receipt, so no
 * other transaction changes this consumption. The lock on the Grant is taken here and kept until the end of the
 * transaction.
 */
export const moveBudget = async (
  { consumption }: Pick<Repositories, 'consumption'>,
  { attestationId, receiptId, report }: Reported,
): Promise<OutcomeRecord['consumption']> => {
  if (report.type !== 'cancelled' && report.correction_of === undefined) return null;
  const ofReceipt = await consumption.findOfReceipt(receiptId);
  const cause = ofReceipt === null ? null : causeOf(ofReceipt, report);
  if (ofReceipt === null || cause === null) return null;
  const { grantId, consumed } = ofReceipt;
  const balances = await consumption.findForUpdate(grantId);
  const version = await consumption.append({ grantId, receiptId, attestationId, cause }, balances, (nowMs) =>
    cause === 'restore' ? restoreOf(consumed, nowMs) : reversalOf(balances, consumed, nowMs),
  );
  return { cause, version };
};

const causeOf = (
  { restore }: ReceiptConsumption,
  { type, correction_of: corrected }: Reported['report'],
): 'restore' | 'restore_reversal' | null => {
  if (restore === null) return type === 'cancelled' ? 'restore' : null;
  return corrected === restore.attestationId && !restore.isReversed ? 'restore_reversal' : null;
};
