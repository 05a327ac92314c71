/** Outcome attestations. Reporters about one Receipt take turns, so that a correction is judged on the whole ledger. */
import type { AttestationRecord, NewAttestation, OutcomeRepository } from '@svc/service';
import type { Database } from '../database.ts';

const columns = `attestation_id as "attestationId", receipt_id as "receiptId", ordinal, relying_party as "reporter",
  type, occurred_at as "occurredAt", svc_ms(recorded_at) as "recordedAtMs", evidence_ref as "evidenceRef", note,
  correction_of as "correctionOf", reporter_signature as "reporterSignature", resolution,
  loss_amount as "lossAmount", currency,
  case when consumption_cause is not null then
    json_build_object('cause', consumption_cause, 'version', consumption_version) end as consumption`;

const insertSql = `
  insert into attestations (attestation_id, receipt_id, ordinal, relying_party, principal, evaluated_at, decision,
    type, occurred_at, evidence_ref, note, correction_of, reporter_signature, resolution, loss_amount, currency,
    consumption_cause, consumption_version)
  select $1, r.receipt_id, $3, r.relying_party, r.principal, r.evaluated_at, r.decision,
    $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
  from receipts r where r.receipt_id = $2
  returning ${columns}`;

export function outcomeRepository(database: Database): OutcomeRepository {
  const list = (receiptIds: readonly string[]) =>
    database.read<AttestationRecord>({
      text: `select ${columns} from attestations where receipt_id = any ($1::text[]) order by receipt_id, ordinal`,
      values: [receiptIds],
    });
  return {
    async listForUpdate(receiptId) {
      // A statement of its own: what is read next must have a snapshot from after the lock.
      await database.write({ text: 'select pg_advisory_xact_lock(7, hashtext($1))', values: [receiptId] });
      return list([receiptId]);
    },
    async insert(attestation) {
      const [row] = await database.write<AttestationRecord>({
        text: insertSql,
        values: valuesOf(attestation),
      });
      return row ?? null;
    },
    listOfReceipts: list,
  };
}

const valuesOf = (attestation: NewAttestation): unknown[] => [
  attestation.attestationId,
  attestation.receiptId,
  attestation.ordinal,
  attestation.type,
  attestation.occurredAt,
  attestation.evidenceRef,
  attestation.note,
  attestation.correctionOf,
  attestation.reporterSignature,
  attestation.resolution,
  attestation.lossAmount,
  attestation.currency,
  attestation.consumption?.cause ?? null,
  attestation.consumption?.version ?? null,
];
