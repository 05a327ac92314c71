/** Decisions about the Principal's own Grants, at all relying parties (protocol §13). */
import type { ReasonCode } from '@svc/protocol';
import {
  aReceiptId,
  type CallOptions,
  checkValue,
  type Decision,
  type DecisionExports,
  type DecisionPages,
  type DecisionStats,
  decisionExports,
  decisionPages,
  decisionQuery,
  fetchDecision,
  type PrincipalActivity,
  readDecisionStats,
  readPrincipalActivity,
  SvcError,
  type Transport,
} from '@svc/sdk-core';
import { ownPath } from './own-record.ts';

/** Which decisions to list. A decision must meet all given members. */
export interface OwnDecisionFilter {
  /** Evaluated at this instant or later. */
  since?: Date | string;
  /** Evaluated before this instant. */
  until?: Date | string;
  decision?: 'ALLOW' | 'DENY';
  reason?: ReasonCode;
  grantId?: string;
  /** The relying party that asked. */
  rp?: string;
}

/**
 * The decisions about this Principal's own Grants, as a list and as files. A Grant that somebody else signed in this
 * Principal's name is not its own.
 */
export interface OwnDecisions extends DecisionPages<OwnDecisionFilter>, DecisionExports<OwnDecisionFilter> {
  /**
   * One decision: its Receipt as stored, and the outcomes reported about it later. `verifyReceipt` of `@svc/receipts`
   * tells whether the Receipt is genuine. Events name a decision by its `receipt_id`.
   * @throws SvcError `refused` (`NOT_FOUND`) for a decision that is not about a Grant of this Principal
   */
  get(receiptId: string, options?: CallOptions): Promise<Decision>;
  /** The number of decisions in a period, the reasons of denials, and the outcomes. Unless given: the last 30 days. */
  stats(
    filter?: Pick<OwnDecisionFilter, 'since' | 'until' | 'rp'>,
    options?: CallOptions,
  ): Promise<DecisionStats>;
  /**
   * Which Agents acted, on which Grants, or at which relying parties: how often, the reasons of denials, the amounts,
   * and the last time. Covers the newest 5,000 decisions of the period; `complete` says whether these are all. Unless
   * given: the last 30 days.
   */
  activity(
    filter: Pick<OwnDecisionFilter, 'since' | 'until' | 'rp'> & { by: 'agent' | 'grant' | 'rp' },
    options?: CallOptions,
  ): Promise<PrincipalActivity>;
}

export function createOwnDecisions(transport: Transport, principal?: string): OwnDecisions {
  let own: string | undefined;
  const pathOf = async (part: string, call: CallOptions) => {
    own ??= await ownPath(transport, call, principal);
    return `${own}/decisions${part}`;
  };
  const read = (part: string, filter: OwnDecisionFilter, call: CallOptions) =>
    transport.whole(call, async (whole) => {
      const path = await pathOf(part, whole.rest());
      const query = decisionQuery(filter);
      const sent = { method: 'GET', path, query, hasEffect: false } as const;
      return (await transport.send({ ...sent, ...whole.rest() })).body;
    });
  return {
    ...decisionPages<OwnDecisionFilter>((filter, from, call) => read('', { ...filter, ...from }, call)),
    async get(receiptId, call = {}) {
      checkValue('receiptId', receiptId, aReceiptId);
      const found = await transport.whole(call, async (whole) => {
        const path = await pathOf(`/${receiptId}`, whole.rest());
        return fetchDecision(transport, path, whole.rest());
      });
      if (found.receipt.receipt_id === receiptId) return found;
      throw new SvcError('bad-response', 'the service answered about another decision');
    },
    stats: async (filter = {}, call = {}) =>
      readDecisionStats(await read('/stats', filter, call), 'the statistics'),
    activity: async (filter, call = {}) =>
      readPrincipalActivity(await read('/activity', filter, call), 'the activity'),
    ...decisionExports<OwnDecisionFilter>(transport, (call) => pathOf('/export', call)),
  };
}
