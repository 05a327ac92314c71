/** Checks a Receipt in this tab against the DID document of the service that this page came from. */
import { type Failure, verifyReceipt } from '@svc/receipts';
import { checkUnderOwnDocument } from './own-service-document.ts';

/** The failures and open points; empty where the Receipt is genuine. */
export const verifyOwnReceipt = async (receipt: unknown): Promise<readonly Failure[]> => {
  const verified = await checkUnderOwnDocument((document) => verifyReceipt(receipt, document));
  return verified.ok ? [] : verified.failures;
};
