/** Stored Receipts by id. The id determines the partition, and the day under which the Receipt may be cold. */
import type { DidWeb, GrantId, ReceiptId, Sha256 } from '@svc/protocol';
import type { ReceiptRecord, ReceiptRepository, ReportedReceipt } from '@svc/service';
import { againIfMoved, type ColdReader, type Question } from '../cold/cold-reader.ts';
import type { Database } from '../database.ts';
import { dayOfId } from '../receipt-ids.ts';

// One statement: in every snapshot a day is either in its partition or cold, never both or neither.
const findSql = `
  select receipt_id as "receiptId", relying_party as "relyingParty", jws, null as hash
  from receipts where receipt_id = $1
  union all
  select null, null, null, manifest_hash from cold_days where day = $2 and state = 'cold'`;
const findReportedSql = `
  select relying_party as "relyingParty", principal, decision, reason, grant_id as "grantId",
    (extract(epoch from evaluated_at) * 1000000)::bigint::text as "evaluatedAt", null as hash
  from receipts where receipt_id = $1
  union all
  select null, null, null, null, null, null, manifest_hash from cold_days where day = $2 and state = 'cold'`;

type ReceiptOrManifest = ReceiptRecord | { readonly receiptId: null; readonly hash: Sha256 };
type ReportedOrManifest = (ReportedReceipt & { readonly hash: null }) | { readonly hash: Sha256 };

export function receiptRepository(database: Database, cold: ColdReader): ReceiptRepository {
  const find = async (question: Question, receiptId: ReceiptId): Promise<ReceiptRecord | null> => {
    const [found] = await database.read<ReceiptOrManifest>({
      text: findSql,
      values: [receiptId, dayOfId(receiptId)],
    });
    if (found === undefined) return null;
    if (found.receiptId !== null) {
      const { relyingParty, jws } = found;
      return { receiptId, relyingParty, jws };
    }
    const row = await cold.find(question, found.hash, receiptId);
    return row && { receiptId, relyingParty: row.relying_party as DidWeb, jws: row.jws };
  };
  const findReported = async (question: Question, receiptId: ReceiptId): Promise<ReportedReceipt | null> => {
    const values = [receiptId, dayOfId(receiptId)];
    const [found] = await database.read<ReportedOrManifest>({ text: findReportedSql, values });
    if (found === undefined) return null;
    const { hash, ...receipt } = found;
    return hash === null ? (receipt as ReportedReceipt) : findCold(question, hash, receiptId);
  };
  const findCold = async (
    question: Question,
    hash: Sha256,
    receiptId: ReceiptId,
  ): Promise<ReportedReceipt | null> => {
    const row = await cold.find(question, hash, receiptId);
    return (
      row && {
        relyingParty: row.relying_party as DidWeb,
        principal: row.principal as DidWeb | null,
        decision: row.decision as ReportedReceipt['decision'],
        reason: row.reason,
        grantId: row.grant_id as GrantId | null,
        evaluatedAt: String(row.evaluated_at),
      }
    );
  };
  return {
    find: (receiptId) => againIfMoved({ database, cold }, (question) => find(question, receiptId)),
    findReported: (receiptId) =>
      againIfMoved({ database, cold }, (question) => findReported(question, receiptId)),
  };
}
