/** Listing decisions (interface §GET /decisions), newest first. */
import type { Caller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import type { DecisionRecord } from '../ports/decisions.ts';
import { type DecisionQuery, findPage } from './decision-page.ts';

export interface DecisionPage {
  readonly decisions: readonly DecisionRecord[];
  readonly nextCursor: string | null;
}

export const listDecisions = async (
  deps: ServiceDeps,
  caller: Caller,
  query: DecisionQuery,
): Promise<DecisionPage> => {
  const { decisions } = deps.store;
  const { items, nextCursor } = await findPage(deps, caller, query, decisions.list, (one) => one.receiptId);
  return { decisions: items, nextCursor };
};
