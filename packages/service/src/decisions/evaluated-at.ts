import { type ReceiptId, ulidOf, ulidTimeMs } from '@svc/protocol';

/** When a Receipt was decided, in milliseconds, read from its id. */
export const evaluatedAtMsOf = (receiptId: ReceiptId): number => ulidTimeMs(ulidOf(receiptId)) ?? Number.NaN;
