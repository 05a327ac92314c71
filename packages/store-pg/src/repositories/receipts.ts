/** Stored Receipts by id; the partition, and the day it may have gone cold with, follow from the id. */
import type { DidWeb, ReceiptId, Sha256 } from '@svc/protocol';
import type { ReceiptRecord, ReceiptRepository } from '@svc/service';
import { againIfMoved, type ColdReader, type Question } from '../cold/cold-reader.ts';
import type { Database } from '../database.ts';
import { dayOfId } from '../receipt-ids.ts';

// One statement: a day is in its partition or cold in every snapshot, and never both or neither.
const findSql = `
  select receipt_id as "receiptId", relying_party as "relyingParty", jws, null as hash
  from receipts where receipt_id = $1
  union all
  select null, null, null, manifest_hash from cold_days where day = $2 and state = 'cold'`;

type Found = ReceiptRecord | { readonly receiptId: null; readonly hash: Sha256 };

export function receiptRepository(database: Database, cold: ColdReader): ReceiptRepository {
  const find = async (question: Question, receiptId: ReceiptId): Promise<ReceiptRecord | null> => {
    const [found] = await database.read<Found>({ text: findSql, values: [receiptId, dayOfId(receiptId)] });
    if (found === undefined) return null;
    if (found.receiptId !== null) {
      const { relyingParty, jws } = found;
      return { receiptId, relyingParty, jws };
    }
    const row = await cold.find(question, found.hash, receiptId);
    return row && { receiptId, relyingParty: row.relying_party as DidWeb, jws: row.jws };
  };
  return { find: (receiptId) => againIfMoved({ database, cold }, (question) => find(question, receiptId)) };
}
