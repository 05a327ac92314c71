/**
 * One decision as it was signed, with its outcome records (interface §Decision). A decision that the caller may not
 * read is answered like an absent one.
 */
import type { DidWeb, ReceiptId } from '@svc/protocol';
import { receiptTextOf } from '@svc/receipts';
import type { Caller } from '../access/caller.ts';
import { mayReadRelyingParty } from '../access/reading.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal, notFound } from '../errors.ts';
import type { OutcomeRecord } from '../ports/outcomes.ts';

export interface RecordedDecision {
  /** The Receipt as JSON text, byte for byte as `/verify` answered it. */
  readonly receiptText: string;
  /** The compact JWS in the Receipt. */
  readonly jws: string;
  /** The outcome records of the decision, the oldest first. */
  readonly outcomes: readonly OutcomeRecord[];
}

export const getDecision = async (
  { store }: ServiceDeps,
  caller: Caller,
  receiptId: ReceiptId,
  askedRp: DidWeb | undefined,
): Promise<RecordedDecision> => {
  const absent = () => notFound(`No decision ${receiptId}.`);
  const receipt = await store.receipts.find(receiptId);
  if (receipt === null || (askedRp !== undefined && askedRp !== receipt.relyingParty)) throw absent();
  const relyingParty = await store.relyingParties.find(receipt.relyingParty);
  if (relyingParty === null || !mayReadRelyingParty(caller, relyingParty)) throw absent();
  const text = receiptTextOf(receipt.jws);
  if (text === null) throw internal(`stored receipt ${receiptId}`);
  return { receiptText: text, jws: receipt.jws, outcomes: await store.outcomes.listOfReceipts([receiptId]) };
};
