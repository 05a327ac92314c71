/** Outcome attestations. Reporters about one Receipt take turns, so that a correction is judged on the whole ledger. */
import type { ReceiptId } from '@svc/protocol';
import type { AttestationRecord, NewAttestation, OutcomeRepository } from '@svc/service';
import { type ColdReader, findColdDays, ReadTime } from '../cold/cold-reader.ts';
import type { Database } from '../database.ts';
import { dayOfId } from '../receipt-ids.ts';

const columns = `attestation_id as "attestationId", receipt_id as "receiptId", ordinal, relying_party as "reporter",
  type, occurred_at as "occurredAt", svc_ms(recorded_at) as "recordedAtMs", evidence_ref as "evidenceRef", note,
  correction_of as "correctionOf", reporter_signature as "reporterSignature", resolution,
  loss_amount as "lossAmount", currency,
  case when consumption_cause is not null then
    json_build_object('cause', consumption_cause, 'version', consumption_version) end as consumption`;

const insertFrom = (receipt: string) => `
  insert into attestations (attestation_id, receipt_id, ordinal, relying_party, principal, evaluated_at, decision,
    type, occurred_at, evidence_ref, note, correction_of, reporter_signature, resolution, loss_amount, currency,
    consumption_cause, consumption_version)
  select $1, r.receipt_id, $3, r.relying_party, r.principal, r.evaluated_at, r.decision,
    $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
  from ${receipt} r where r.receipt_id = $2
  returning ${columns}`;

const insertSql = insertFrom('receipts');

/** Of a Receipt that is not in the database any more. An instant has microseconds. */
const insertColdSql =
  insertFrom(`(select $2::text as receipt_id, $15::text as relying_party, $16::text as principal,
  to_timestamp(0) + $17::bigint * interval '1 microsecond' as evaluated_at, $18::text as decision,
  set_config('svc.grant_of_cold_receipt', coalesce($19::text, ''), true) as told)`);

export function outcomeRepository(database: Database, cold: ColdReader): OutcomeRepository {
  const list = (receiptIds: readonly string[]) =>
    database.read<AttestationRecord>({
      text: `select ${columns} from attestations where receipt_id = any ($1::text[]) order by receipt_id, ordinal`,
      values: [receiptIds],
    });
  const insertOfCold = async (values: unknown[], receiptId: ReceiptId) => {
    const [hash] = (await findColdDays(database, [dayOfId(receiptId)])).values();
    const receipt =
      hash === undefined ? null : await cold.find({ database, time: new ReadTime() }, hash, receiptId);
    if (receipt === null) return null;
    const {
      relying_party: relyingParty,
      principal,
      evaluated_at: evaluatedAt,
      decision,
      grant_id: grantId,
    } = receipt;
    const [row] = await database.write<AttestationRecord>({
      text: insertColdSql,
      values: [...values, relyingParty, principal, String(evaluatedAt), decision, grantId],
    });
    return row ?? null;
  };
  return {
    async listForUpdate(receiptId) {
      // A statement of its own: what is read next must have a snapshot from after the lock.
      await database.write({ text: 'select pg_advisory_xact_lock(7, hashtext($1))', values: [receiptId] });
      return list([receiptId]);
    },
    async insert(attestation) {
      const values = valuesOf(attestation);
      const [row] = await database.write<AttestationRecord>({ text: insertSql, values });
      return row ?? insertOfCold(values, attestation.receiptId);
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
