/** Decisions as lists show them. Columns are an index of the Receipt, never an authority. */
import type { DecisionExportRecord, DecisionRecord, DecisionRepository } from '@svc/service';
import type { Database } from '../database.ts';
import { type Found, searchDecisions } from '../decision-search/search-decisions.ts';
import { byIdsStatements } from '../decision-search/statements.ts';

const id = 'receipt_id as "receiptId"';
const summary = `${id}, decision, reason, svc_ms(evaluated_at) as "evaluatedAtMs", principal,
  grant_id as "grantId", agent, relying_party as "relyingParty", key_id as "keyId", action_type as "actionType",
  amount, currency, resource, method`;

/** An attestation has some 400 characters besides its texts. */
const exported = `${summary}, jws,
  (select coalesce(sum(400 + length(concat(evidence_ref, note, reporter_signature))), 0)
   from attestations a where a.receipt_id = receipts.receipt_id) as "outcomeChars"`;

export function decisionRepository(database: Database): DecisionRepository {
  return {
    list: (filter, limit) => searchDecisions<DecisionRecord>(database, filter, summary, limit),
    async listIds(filter, limit) {
      const found = await searchDecisions<Found>(database, filter, id, limit);
      return found.map(({ receiptId }) => receiptId);
    },
    async listForExport(ids) {
      const rows: DecisionExportRecord[] = [];
      for (const statement of byIdsStatements(ids, exported))
        rows.push(...(await database.read<DecisionExportRecord>(statement)));
      return rows;
    },
  };
}
