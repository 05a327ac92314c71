/** Lists decisions (interface §GET /decisions), newest first. */
import type { Caller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import type { Page } from '../paging/page.ts';
import type { DecisionRecord } from '../ports/decisions.ts';
import { type DecisionQuery, findPage } from './decision-page.ts';

export const listDecisions = (
  deps: ServiceDeps,
  caller: Caller,
  query: DecisionQuery,
): Promise<Page<DecisionRecord>> =>
  findPage(
    deps,
    caller,
    query,
    (filter, limit) => deps.store.report(({ decisions }) => decisions.list(filter, limit)),
    ({ receiptId }) => receiptId,
  );
