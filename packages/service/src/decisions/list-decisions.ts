/** Listing decisions (interface §GET /decisions), newest first. */
import type { Caller } from '../callers/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import type { DecisionRecord } from '../ports/decisions.ts';
import { type DecisionQuery, findIdPage } from './decision-page.ts';

export interface DecisionPage {
  readonly decisions: readonly DecisionRecord[];
  readonly nextCursor: string | null;
}

export const listDecisions = async (
  deps: ServiceDeps,
  caller: Caller,
  query: DecisionQuery,
): Promise<DecisionPage> => {
  const { ids, nextCursor } = await findIdPage(deps, caller, query);
  return { decisions: await deps.store.decisions.listByIds(ids), nextCursor };
};
