/** Checks a Receipt in this tab against the DID document of the service that this page came from. */
import { verifyReceipt } from '@svc/receipts';
import { ownServiceDocument } from './own-service-document.ts';

export const verifyOwnReceipt = async (receipt: unknown): Promise<boolean> =>
  verifyReceipt(receipt, await ownServiceDocument()).ok;
