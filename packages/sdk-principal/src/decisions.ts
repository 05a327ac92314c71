/** What was decided about the Principal's own Grants, whoever asked (protocol §13). */
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

/** Which decisions. All that are given must hold. */
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
 * The decisions on this Principal's own Grants, as a list and as files; a Grant that somebody else signed in its name
 * is not its own.
 */
export interface OwnDecisions extends DecisionPages<OwnDecisionFilter>, DecisionExports<OwnDecisionFilter> {
  /**
   * One decision: its Receipt as it is stored (whether it is genuine, `verifyReceipt` of `@svc/receipts` tells) and
   * what was reported about it later. An event names it by its `receipt_id`.
   * @throws SvcError `refused` (`NOT_FOUND`) for a decision that is not about a Grant of this Principal
   */
  get(receiptId: string, options?: CallOptions): Promise<Decision>;
  /** How many there were in a period, why not, and what came of them. Unless given: the last 30 days. */
  stats(
    filter?: Pick<OwnDecisionFilter, 'since' | 'until' | 'rp'>,
    options?: CallOptions,
  ): Promise<DecisionStats>;
  /**
   * Which Agents acted, on which Grants, or at which relying parties: how often, why not, for how much, and when last.
   * Of the newest 5,000 decisions of the period; `complete` says whether these are all. Unless given: the last 30 days.
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
