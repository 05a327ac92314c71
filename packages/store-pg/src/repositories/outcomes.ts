/**
 * Attestations of outcomes. Reports about one Receipt take turns, so that a correction is checked against the whole
 * ledger.
 */
import type { NewOutcome, OutcomeRecord, OutcomeRepository, ReportedReceipt } from '@svc/service';
import type { Database } from '../database.ts';
import { afterLock } from '../locks.ts';
import { dayOfId } from '../receipt-ids.ts';

const columns = `attestation_id as "attestationId", receipt_id as "receiptId", ordinal, relying_party as "reporter",
  type, occurred_at as "occurredAt", svc_ms(recorded_at) as "recordedAtMs", evidence_ref as "evidenceRef", note,
  correction_of as "correctionOf", reporter_signature as "reporterSignature", resolution,
  loss_amount as "lossAmount", currency,
  case when consumption_cause is not null then
    json_build_object('cause', consumption_cause, 'version', consumption_version) end as consumption`;

// One statement: in every snapshot a day is either in its partition or cold, never both or neither. Instants have
// microseconds.
const insertSql = `
  insert into attestations (attestation_id, receipt_id, ordinal, relying_party, principal, evaluated_at, decision,
    type, occurred_at, evidence_ref, note, correction_of, reporter_signature, resolution, loss_amount, currency,
    consumption_cause, consumption_version, issuer_unverified)
  select $1, $2, $3, r.relying_party, r.principal, r.evaluated_at, r.decision,
    $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, coalesce(r.reason = 'ISSUER_UNVERIFIED', false)
  from (
    select relying_party, principal, evaluated_at, decision, reason, null as told from receipts where receipt_id = $2
    union all
    select $16, $17, to_timestamp(0) + $18::bigint * interval '1 microsecond', $19, $20,
      set_config('svc.grant_of_cold_receipt', coalesce($21, ''), true)
    from cold_days where day = $15 and state = 'cold' and $16::text is not null
  ) as r
  returning ${columns}`;

export function outcomeRepository(database: Database): OutcomeRepository {
  const list = (receiptIds: readonly string[]) =>
    database.read<OutcomeRecord>({
      text: `select ${columns} from attestations where receipt_id = any ($1::text[]) order by receipt_id, ordinal`,
      values: [receiptIds],
    });
  return {
    listForUpdate: (receiptId) => afterLock(database, 'outcomes', receiptId, () => list([receiptId])),
    async insert(outcome, receipt) {
      const values = [...valuesOf(outcome), ...coldValuesOf(outcome, receipt)];
      const [row] = await database.write<OutcomeRecord>({ text: insertSql, values });
      return row ?? null;
    },
    listOfReceipts: list,
  };
}

const valuesOf = (outcome: NewOutcome): unknown[] => [
  outcome.attestationId,
  outcome.receiptId,
  outcome.ordinal,
  outcome.type,
  outcome.occurredAt,
  outcome.evidenceRef,
  outcome.note,
  outcome.correctionOf,
  outcome.reporterSignature,
  outcome.resolution,
  outcome.lossAmount,
  outcome.currency,
  outcome.consumption?.cause ?? null,
  outcome.consumption?.version ?? null,
];

const coldValuesOf = ({ receiptId }: NewOutcome, receipt: ReportedReceipt | null): unknown[] => [
  dayOfId(receiptId),
  receipt?.relyingParty ?? null,
  receipt?.principal ?? null,
  receipt?.evaluatedAt ?? null,
  receipt?.decision ?? null,
  receipt?.reason ?? null,
  receipt?.grantId ?? null,
];
