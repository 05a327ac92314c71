/** Decisions as lists show them. Columns are an index of the Receipt, never an authority. */
import type {
  DecisionExportRecord,
  DecisionRecord,
  DecisionRepository,
} from '@svc/service';
import type { ReceiptId } from '@svc/protocol';
import type { Database, Statement } from '../database.ts';
import { findIds } from '../decision-search/find-ids.ts';

const columns = `receipt_id as "receiptId", decision, reason, svc_ms(evaluated_at) as "evaluatedAtMs", principal,
  grant_id as "grantId", agent, relying_party as "relyingParty", key_id as "keyId", action_type as "actionType",
  amount, currency, resource, method`;

/** An attestation has some 400 characters besides its texts. */
const outcomeChars = `(select coalesce(sum(400 + length(concat(evidence_ref, note, reporter_signature))), 0)
  from attestations a where a.receipt_id = r.receipt_id) as "outcomeChars"`;

export function decisionRepository(database: Database): DecisionRepository {
  return {
    listIds: (filter, limit) => findIds(database, filter, limit),
    async listByIds(ids) {
      return ids.length === 0 ? [] : database.read<DecisionRecord>(byIdsStatement(columns, ids));
    },
    async listForExport(ids) {
      const all = `${columns}, jws, ${outcomeChars}`;
      return ids.length === 0 ? [] : database.read<DecisionExportRecord>(byIdsStatement(all, ids));
    },
  };
}

/** The ids are values, so the planner sees in which partitions they are. */
const byIdsStatement = (selected: string, ids: readonly ReceiptId[]): Statement => ({
  text: `select ${selected} from receipts r where receipt_id = any ($1::text[]) order by receipt_id desc`,
  values: [ids],
});
