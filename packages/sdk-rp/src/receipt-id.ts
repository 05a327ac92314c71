/** What names a decision, wherever the caller gives it. */
import { isReceiptId } from '@svc/protocol';
import { rule } from '@svc/sdk-core';

export const aReceiptId = rule('the receipt_id of a Receipt, drc_ and 26 characters', isReceiptId);
