/** The latest decisions, newest first, with filters. */

import { REASON_CODES } from '@svc/protocol';
import { DecisionBadge } from '../shared/badge.tsx';
import { formatAmount, formatInstant } from '../shared/describe.ts';
import { useLatestRows, usePaged } from '../shared/paged.ts';
import { Problem } from '../shared/problem.tsx';
import { Resource } from '../shared/resource.tsx';
import type { DecisionSummary } from '../shared/wire.ts';
import { type PeriodDays, periodOf } from './period.ts';
import { usePlaced } from './place.ts';
import type { DecisionQuery, Source } from './source.ts';

type Filters = Pick<DecisionQuery, 'decision' | 'reason' | 'principal' | 'rp' | 'grant_id'>;
type From = NonNullable<Source['decisions']>;

const NO_FILTERS: Filters = { decision: '', reason: '', principal: '', rp: '', grant_id: '' };

export interface DecisionsProps {
  readonly from: From;
  readonly days: PeriodDays;
  /** The filters that the address sets. */
  readonly place: URLSearchParams;
  readonly onOpen: (receiptId: string) => void;
}

export const Decisions = ({ from, days, place, onOpen }: DecisionsProps) => {
  const [filters, setFilters] = usePlaced(place, filtersIn);
  const decisions = useDecisions(from, filters, days);
  const { problem, isLoading, loadMore } = decisions;
  const rows = useLatestRows(decisions);
  return (
    <section class="card" aria-labelledby="latest">
      <div class="card-head">
        <h2 id="latest">Latest decisions</h2>
        <p role="status">{isLoading ? 'Loading …' : `${rows.length} shown`}</p>
      </div>
      <FilterForm other={from.other} filters={filters} onFilters={setFilters} />
      <Problem text={problem} />
      {rows.length === 0 && !isLoading && problem === null && (
        <p class="soft">
          {loadMore === null
            ? 'No decision fits.'
            : 'None found so far. Older decisions have not been looked through yet.'}
        </p>
      )}
      <ul class="decisions">
        {rows.map((row) => (
          <li key={row.receipt_id}>
            <DecisionRow row={row} other={row[from.other]} onOpen={() => onOpen(row.receipt_id)} />
          </li>
        ))}
      </ul>
      {loadMore !== null && (
        <button type="button" class="button" disabled={isLoading} onClick={() => void loadMore()}>
          Older
        </button>
      )}
    </section>
  );
};

/** `#view=decisions&rp=…&grant_id=…`: the link by which another view opens the decisions of one of its rows. */
const filtersIn = (place: URLSearchParams): Filters => ({
  ...NO_FILTERS,
  rp: place.get('rp') ?? '',
  grant_id: place.get('grant_id') ?? '',
});

const DecisionRow = ({
  row,
  other,
  onOpen,
}: {
  readonly row: DecisionSummary;
  readonly other: string | null;
  readonly onOpen: () => void;
}) => (
  <button type="button" class="decision" onClick={onOpen}>
    <DecisionBadge decision={row.decision} />
    <span class="decision-what">
      <span class="decision-line decision-action">
        <Action {...row} />
      </span>
      <span class="decision-line soft">{row.reason ?? other ?? ''}</span>
    </span>
    <time class="soft" dateTime={row.evaluated_at}>
      {formatInstant(row.evaluated_at)}
    </time>
  </button>
);

const Action = ({ amount, currency, resource, method }: DecisionSummary) =>
  resource === null ? (
    <>Action not readable</>
  ) : (
    <>
      {amount !== null && currency !== null ? formatAmount(amount, currency) : method}{' '}
      <Resource text={resource} most={200} />
    </>
  );

const FilterForm = ({
  other,
  filters,
  onFilters,
}: {
  readonly other: From['other'];
  readonly filters: Filters;
  readonly onFilters: (filters: Filters) => void;
}) => {
  // A text filter applies once it is complete: on Enter, or when the field loses the focus.
  const set = (name: keyof Filters) => (event: Event) =>
    onFilters({ ...filters, [name]: (event.currentTarget as HTMLInputElement).value.trim() });
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()} aria-label="Filters">
      <label class="field">
        <span>Decision</span>
        <select value={filters.decision} onChange={set('decision')}>
          <option value="">All</option>
          <option>ALLOW</option>
          <option>DENY</option>
        </select>
      </label>
      <label class="field">
        <span>Reason</span>
        <select value={filters.reason} onChange={set('reason')}>
          <option value="">All</option>
          {REASON_CODES.map((reason) => (
            <option key={reason}>{reason}</option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{other === 'principal' ? 'Principal' : 'Relying party'}</span>
        <input placeholder="did:web:…" value={filters[other]} onChange={set(other)} />
      </label>
      <label class="field">
        <span>Grant</span>
        <input placeholder="urn:svc:grant:…" value={filters.grant_id} onChange={set('grant_id')} />
      </label>
    </form>
  );
};

/**
 * Among old decisions a page may be empty although it has a cursor; reading goes on there, for at most this many pages.
 */
const MAX_PAGES = 10;

/** The first page for these filters that has decisions, and more on demand. */
const useDecisions = (from: From, filters: Filters, days: PeriodDays) =>
  usePaged<DecisionSummary>(
    async (cursor) => {
      const query = { ...periodOf(days, Date.now()), ...filters };
      let page = await from.list({ ...query, cursor });
      for (let pages = 1; pages < MAX_PAGES; pages++) {
        if (page.decisions.length > 0 || page.next_cursor === null) break;
        page = await from.list({ ...query, cursor: page.next_cursor });
      }
      return { rows: page.decisions, next: page.next_cursor };
    },
    [from, filters, days],
  );
