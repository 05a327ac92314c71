/** What was decided about the Principal's own Grants, whoever asked (protocol §13). */
import type { ReasonCode } from '@svc/protocol';
import {
  type CallOptions,
  type DecisionList,
  type DecisionStats,
  type DecisionSummary,
  instant,
  iteratePages,
  readDecisionList,
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
export interface OwnDecisions {
  /** Newest first, fetched page by page as it is consumed. `limit` is per page, 1–200. */
  list(
    filter?: OwnDecisionFilter & { limit?: number },
    options?: CallOptions,
  ): AsyncGenerator<DecisionSummary, void, undefined>;
  /** One page of it; `next_cursor` is the `cursor` of the next one, null on the last. */
  page(
    filter?: OwnDecisionFilter & { limit?: number; cursor?: string },
    options?: CallOptions,
  ): Promise<DecisionList>;
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
    const { since, until, grantId, ...others } = filter;
    const query = {
      ...others,
      ...instant('since', since),
      ...instant('until', until),
      ...(grantId === undefined ? {} : { grant_id: grantId }),
    };
    const path = `${own}/decisions${part}`;
    return (await transport.send({ method: 'GET', path, query, hasEffect: false, ...call })).body;
  };
  const page: OwnDecisions['page'] = async (filter = {}, call = {}) =>
    readDecisionList(await read('', filter, call), 'the page');
  return {
    page,
    list: (filter = {}, call = {}) =>
      iteratePages(
        (cursor) => page({ ...filter, ...cursor }, call),
        ({ decisions }) => decisions,
      ),
    stats: async (filter = {}, call = {}) =>
      readDecisionStats(await read('/stats', filter, call), 'the statistics'),
  };
}
