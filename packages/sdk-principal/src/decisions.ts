/** What was decided about the Principal's own Grants, whoever asked (protocol §13). */
import type { ReasonCode } from '@svc/protocol';
import {
  type CallOptions,
  type DecisionPages,
  type DecisionStats,
  decisionPages,
  decisionQuery,
  readDecisionStats,
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

/** The decisions on this Principal's own Grants; a Grant that somebody else signed in its name is not its own. */
export interface OwnDecisions extends DecisionPages<OwnDecisionFilter> {
  /** How many there were in a period, why not, and what came of them. Unless given: the last 30 days. */
  stats(
    filter?: Pick<OwnDecisionFilter, 'since' | 'until' | 'rp'>,
    options?: CallOptions,
  ): Promise<DecisionStats>;
}

export function createOwnDecisions(transport: Transport): OwnDecisions {
  let own: string | undefined;
  const read = async (part: string, filter: OwnDecisionFilter, call: CallOptions) => {
    own ??= await ownPath(transport, call);
    const path = `${own}/decisions${part}`;
    const query = decisionQuery(filter);
    return (await transport.send({ method: 'GET', path, query, hasEffect: false, ...call })).body;
  };
  return {
    ...decisionPages<OwnDecisionFilter>((filter, from, call) => read('', { ...filter, ...from }, call)),
    stats: async (filter = {}, call = {}) =>
      readDecisionStats(await read('/stats', filter, call), 'the statistics'),
  };
}
