/**
 * Records reports of what became of a decision (interface §Outcome attestations, protocol §13). Reports about one
 * Receipt run one after another, so each is judged on the whole ledger. A stored record never changes.
 */
import { type DidWeb, encodeUlid, parseAnyUtcTime, type ReceiptId } from '@svc/protocol';
import { requireReporter } from '../access/acting.ts';
import type { Caller } from '../access/caller.ts';
import { lockLiveKey } from '../access/live-key.ts';
import { auditEvent } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal, invalidRequest } from '../errors.ts';
import type { ReportedReceipt } from '../ports/decisions.ts';
import {
  MAX_OUTCOMES,
  type NewOutcome,
  type OutcomeRecord,
  type OutcomeType,
  type Resolution,
} from '../ports/outcomes.ts';
import type { Repositories } from '../ports/store.ts';
import { moveBudget } from './move-budget.ts';

/** The body as the contract has parsed it: the members that its type requires are present. */
export interface OutcomeReport {
  readonly type: OutcomeType;
  readonly occurred_at: string;
  readonly evidence_ref?: string | undefined;
  readonly note?: string | undefined;
  readonly correction_of?: string | undefined;
  readonly reporter_signature?: string | undefined;
  readonly resolution?: Resolution | undefined;
  readonly loss_amount?: number | undefined;
  readonly currency?: string | undefined;
}

export interface OutcomeReporting {
  readonly caller: Caller;
  readonly receiptId: ReceiptId;
  /** The member relying party to report for; only with org keys. */
  readonly subject: DidWeb | undefined;
  readonly report: OutcomeReport;
  readonly requestId: string;
}

/** Maximum time by which the reporter's clock may be ahead. */
const AHEAD_MS = 5 * 60_000;

/**
 * Appends to the ledger of a decision. `INVALID_REQUEST` when the time or the correction is not valid, or the ledger is
 * full. `NOT_FOUND` for the decision of another relying party.
 */
export const reportOutcome = async (
  deps: ServiceDeps,
  { caller, receiptId, subject, report, requestId }: OutcomeReporting,
): Promise<OutcomeRecord> => {
  checkTime(deps, report.occurred_at);
  const receipt = await requireReporter(deps, caller, receiptId, subject);
  return deps.store.transaction(
    async (tx) => {
      await lockLiveKey(tx, caller);
      const ledger = await tx.outcomes.listForUpdate(receiptId);
      if (ledger.length >= MAX_OUTCOMES)
        throw invalidRequest(`A decision takes ${MAX_OUTCOMES} outcomes; ${receiptId} has them.`);
      checkCorrection(ledger, report.correction_of);
      const outcome = await append(deps, tx, { receiptId, receipt, ordinal: ledger.length + 1, report });
      const { attestationId, reporter, type } = outcome;
      const details = { attestation_id: attestationId, type, reporter };
      await tx.audit.insert(
        auditEvent(deps, caller, { action: 'outcome.report', target: receiptId, requestId, details }),
      );
      return outcome;
    },
    { lane: 'reports', exclusiveKey: receiptId },
  );
};

/** Checks the time that is reported. Fractions of a second are ignored. */
const checkTime = ({ clock }: ServiceDeps, occurredAt: string): void => {
  const occurredAtMs = parseAnyUtcTime(occurredAt);
  if (occurredAtMs === null) throw invalidRequest('occurred_at: must be a day and time that exist');
  if (Math.floor(occurredAtMs / 1000) * 1000 > clock.nowMs() + AHEAD_MS)
    throw invalidRequest('occurred_at: must not lie more than five minutes ahead');
};

const checkCorrection = (ledger: readonly OutcomeRecord[], id: string | undefined): void => {
  if (id === undefined) return;
  const corrected = ledger.find(({ attestationId }) => attestationId === id);
  if (corrected === undefined)
    throw invalidRequest('correction_of: must name an attestation of this decision');
  // Without this exception nothing could undo a restore that came with a correction.
  if (corrected.correctionOf !== null && corrected.consumption?.cause !== 'restore')
    throw invalidRequest(
      'correction_of: must not name a correction; corrections stand, but for one that gave the budget back',
    );
  if (ledger.some(({ correctionOf }) => correctionOf === id))
    throw invalidRequest('correction_of: has been corrected already');
};

interface Addition extends Pick<OutcomeReporting, 'receiptId' | 'report'> {
  readonly receipt: ReportedReceipt;
  readonly ordinal: number;
}

const append = async (
  { clock, random }: ServiceDeps,
  tx: Repositories,
  { receiptId, receipt, ordinal, report }: Addition,
): Promise<OutcomeRecord> => {
  const attestationId = `oat_${encodeUlid(clock.nowMs(), random.bytes(10))}`;
  const consumption = await moveBudget(tx, { attestationId, receiptId, report });
  const addition: NewOutcome = {
    attestationId,
    receiptId,
    ordinal,
    type: report.type,
    occurredAt: report.occurred_at,
    evidenceRef: report.evidence_ref ?? null,
    note: report.note ?? null,
    correctionOf: report.correction_of ?? null,
    reporterSignature: report.reporter_signature ?? null,
    resolution: report.resolution ?? null,
    lossAmount: report.loss_amount ?? null,
    currency: report.currency ?? null,
    consumption,
  };
  const outcome = await tx.outcomes.insert(addition, receipt);
  if (outcome === null) throw internal(`no receipt ${receiptId}`);
  return outcome;
};
