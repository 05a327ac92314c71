/** Checks a Receipt in this tab against the DID document of the service that this page came from. */
import { type Failure, verifyReceipt } from '@svc/receipts';
import { checkUnderOwnDocument } from './own-service-document.ts';

/** What is wrong with it, or could not be decided; nothing: it is genuine. */
export const verifyOwnReceipt = async (receipt: unknown): Promise<readonly Failure[]> => {
  const verified = await checkUnderOwnDocument((document) => verifyReceipt(receipt, document));
  return verified.ok ? [] : verified.failures;
};
