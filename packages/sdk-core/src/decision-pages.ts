/** Decisions page by page, for whoever may list them (interface §Decisions). */
import type { JsonValue } from '@svc/codec';
import { instant } from './account.ts';
import type { CallOptions } from './call-options.ts';
import { iteratePages } from './pages.ts';
import { readDecisionList } from './readers.generated.ts';
import type { DecisionList, DecisionSummary } from './wire.generated.ts';

/** Decisions that a filter takes, newest first. */
export interface DecisionPages<Filter> {
  /** Newest first, fetched page by page as it is consumed. `limit` is per page, 1–200. */
  list(
    filter?: Filter & { limit?: number },
    options?: CallOptions,
  ): AsyncGenerator<DecisionSummary, void, undefined>;
  /** One page of it; `next_cursor` is the `cursor` of the next one, null on the last. */
  page(filter?: Filter & { limit?: number; cursor?: string }, options?: CallOptions): Promise<DecisionList>;
}

/** `read` answers what the service said to a filter and the place at which its page begins. */
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

/** Members of a filter of decisions whose names on the wire are others. */
export interface NamedFilter {
  since?: Date | string;
  until?: Date | string;
  grantId?: string;
  keyId?: string;
}

/** As the service takes it. */
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
