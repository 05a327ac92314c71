/** One decision as it was signed (interface §Decision). A foreign decision answers like an absent one. */
import type { DidWeb, ReceiptId } from '@svc/protocol';
import { receiptTextOf } from '@svc/receipts';
import type { Caller } from '../callers/caller.ts';
import { mayReadRelyingParty } from '../callers/visibility.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal, notFound } from '../errors.ts';

/** The Receipt as JSON text, byte for byte what `/verify` answered. */
export const getDecisionReceipt = async (
  { store }: ServiceDeps,
  caller: Caller,
  receiptId: ReceiptId,
  askedRp: DidWeb | undefined,
): Promise<string> => {
  const absent = () => notFound(`No decision ${receiptId}.`);
  const receipt = await store.receipts.find(receiptId);
  if (receipt === null || (askedRp !== undefined && askedRp !== receipt.relyingParty)) throw absent();
  const relyingParty = await store.relyingParties.find(receipt.relyingParty);
  if (relyingParty === null || !mayReadRelyingParty(caller, relyingParty)) throw absent();
  const text = receiptTextOf(receipt.jws);
  if (text === null) throw internal(`stored receipt ${receiptId}`);
  return text;
};
