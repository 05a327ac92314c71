/** A relying party's decisions: as a list, and complete for archives and spreadsheets (interface §Decisions). */
import type { ReasonCode } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import {
  type Attestation,
  type DecisionExports,
  type DecisionPages,
  type DecisionSummary,
  decisionExports,
  decisionPages,
  decisionQuery,
  type Transport,
} from '@svc/sdk-core';

/** A decision must meet all given members. */
export interface DecisionFilter {
  /** Evaluated at this instant or later. */
  since?: Date | string;
  /** Evaluated before this instant. */
  until?: Date | string;
  decision?: 'ALLOW' | 'DENY';
  reason?: ReasonCode;
  /** DID of the Principal that issued the Grant. */
  principal?: string;
  grantId?: string;
  /** The API key of this relying party that asked. */
  keyId?: string;
}

/** A decision as the export contains it. */
export interface DecisionExportRow extends DecisionSummary {
  /** As stored. `verifyReceipt` of `@svc/receipts` tells whether it is genuine. */
  receipt: Receipt;
  /** The outcome ledger, oldest first. */
  outcomes: Attestation[];
}

/** The decisions of this relying party, as a list and as files. */
export interface DecisionLists
  extends DecisionPages<DecisionFilter>,
    DecisionExports<DecisionFilter, DecisionExportRow> {}

export function createDecisionLists(transport: Transport): DecisionLists {
  const exports = decisionExports<DecisionFilter>(transport, () => '/decisions/export');
  return {
    ...decisionPages<DecisionFilter>(async (filter, from, call) => {
      const query = decisionQuery({ ...filter, ...from });
      const sent = { method: 'GET', path: '/decisions', query, hasEffect: false } as const;
      return (await transport.send({ ...sent, ...call })).body;
    }),
    ...(exports as unknown as DecisionExports<DecisionFilter, DecisionExportRow>),
  };
}
