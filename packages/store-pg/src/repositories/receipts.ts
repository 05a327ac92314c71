/** Stored Receipts by id; the partition follows from the id. */
import type { ReceiptRecord, ReceiptRepository } from '@svc/service';
import type { Database } from '../database.ts';

export function receiptRepository(database: Database): ReceiptRepository {
  return {
    async find(receiptId) {
      const rows = await database.read<ReceiptRecord>({
        text: `select receipt_id as "receiptId", relying_party as "relyingParty", jws
          from receipts where receipt_id = $1`,
        values: [receiptId],
      });
      return rows[0] ?? null;
    },
  };
}
