import { type ReceiptId, ulidOf, ulidTimeMs } from '@svc/protocol';

/** When a Receipt was decided, as its id says. */
export const evaluatedAtMsOf = (receiptId: ReceiptId): number => ulidTimeMs(ulidOf(receiptId)) ?? Number.NaN;
