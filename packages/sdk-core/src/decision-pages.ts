/** Decisions page by page, for every caller that may list them (interface §Decisions). */
import type { JsonValue } from '@svc/codec';
import { instant } from './account.ts';
import type { CallOptions } from './call-options.ts';
import { iteratePages } from './pages.ts';
import { readDecisionList } from './readers.generated.ts';
import type { DecisionList, DecisionSummary } from './wire.generated.ts';

/** Lists the decisions that match a filter, newest first. */
export interface DecisionPages<Filter> {
  /** Newest first. Pages are fetched as the list is consumed. `limit` is per page, 1–200. */
  list(
    filter?: Filter & { limit?: number },
    options?: CallOptions,
  ): AsyncGenerator<DecisionSummary, void, undefined>;
  /** One page of the list; `next_cursor` is the `cursor` of the next page, null on the last one. */
  page(filter?: Filter & { limit?: number; cursor?: string }, options?: CallOptions): Promise<DecisionList>;
}

/** `read` returns the service's answer for a filter and the cursor at which the page begins. */
export const decisionPages = <Filter extends object>(
  read: (filter: Filter | undefined, from: { cursor?: string }, call: CallOptions) => Promise<JsonValue>,
): DecisionPages<Filter> => {
  const readPage = async (...asked: Parameters<typeof read>) =>
    readDecisionList(await read(...asked), 'the page');
  return {
    page: (filter, call = {}) => readPage(filter, {}, call),
    list: (filter, call = {}) =>
      iteratePages(
        (from) => readPage(filter, from, call),
        ({ decisions }) => decisions,
      ),
  };
};

/** Members of a filter of decisions that have other names on the wire. */
export interface NamedFilter {
  since?: Date | string;
  until?: Date | string;
  grantId?: string;
  keyId?: string;
}

/** The filter as the service's query parameters. */
export const decisionQuery = <Filter extends NamedFilter>({
  since,
  until,
  grantId,
  keyId,
  ...filter
}: Filter) => ({
  ...filter,
  ...instant('since', since),
  ...instant('until', until),
  ...(grantId === undefined ? {} : { grant_id: grantId }),
  ...(keyId === undefined ? {} : { key_id: keyId }),
});
