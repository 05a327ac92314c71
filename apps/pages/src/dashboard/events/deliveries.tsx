/**
 * What the service sent to an endpoint, and what the endpoint answered. After a test it loads again until the answer is
 * listed.
 */
import { useEffect, useState } from 'preact/hooks';
import { formatInstant } from '../../shared/describe.ts';
import { usePaged } from '../../shared/paged.ts';
import { Problem } from '../../shared/problem.tsx';
import type { Delivery, DeliveryList } from '../../shared/wire.ts';
import type { Own } from '../session.ts';
import { ShortId } from '../short-id.tsx';

const PAGE_SIZE = '10';
/**
 * Milliseconds between loads. A delivery is listed a moment after it was sent, and its answer up to 15 s later; a
 * worker that is busy or down takes longer.
 */
const LOOKS_AFTER_MS = [1_500, 1_500, 1_500, 3_000, 3_000, 6_000, 6_000, 12_000, 12_000, 30_000];

export interface DeliveriesProps {
  readonly own: Own;
  readonly path: string;
  /** Increased with each thing that is sent. */
  readonly sent: number;
}

export const Deliveries = ({ own, path, sent }: DeliveriesProps) => {
  const { rows, problem, isLoading, loadMore, reload } = usePaged<Delivery>(
    async (cursor) => {
      const query = { limit: PAGE_SIZE, ...(cursor !== null && { cursor }) };
      const { deliveries, next_cursor: next } = await own.call<DeliveryList>(`${path}/deliveries`, { query });
      return { rows: deliveries, next };
    },
    [own, path],
  );
  const newest = rows?.[0];
  const isLooking = useLooks(sent, newest, reload);
  return (
    <details class="plain-details deliveries" open={sent > 0}>
      <summary>Deliveries{newest !== undefined && `: the latest ${says(newest)}`}</summary>
      <div class="row">
        <button type="button" class="button button-quiet" onClick={reload}>
          {isLoading ? 'Looking …' : 'Look again'}
        </button>
        {isLooking && <p class="soft">This looks again by itself for a while.</p>}
      </div>
      <Problem text={problem} />
      {rows?.length === 0 && !isLooking && (
        <p class="empty">
          Nothing has been sent yet.{' '}
          {sent === 0 ? 'Send a test to see how it is answered.' : 'That takes long: look again later.'}
        </p>
      )}
      {rows !== null && rows.length > 0 && (
        <table class="rows rows-deliveries">
          <thead>
            <tr>
              <th scope="col">Event</th>
              <th scope="col">State</th>
              <th scope="col">Answer</th>
              <th scope="col">When</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.event_id}>
                <th scope="row">
                  <p>{row.type}</p>
                  <p class="soft">
                    <ShortId id={row.event_id} />
                  </p>
                </th>
                <td>
                  <span class={`badge badge-${TONES[row.state]}`}>{row.state}</span>
                </td>
                <td>{answerOf(row)}</td>
                <td>
                  {row.last_attempt_at === null ? 'not yet' : formatInstant(row.last_attempt_at)}
                  {row.next_attempt_at !== null && (
                    <p class="soft">
                      {Date.parse(row.next_attempt_at) > Date.now() ? 'next' : 'due since'}{' '}
                      {formatInstant(row.next_attempt_at)}
                    </p>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {loadMore !== null && (
        <button type="button" class="button button-small" onClick={() => void loadMore()}>
          Older
        </button>
      )}
    </details>
  );
};

const TONES = { delivered: 'good', waiting: 'idle', failed: 'bad' } as const;

const says = ({ state, attempts }: Delivery): string => {
  if (state !== 'waiting') return state === 'delivered' ? 'was delivered' : 'failed';
  return attempts === 0 ? 'waits to be sent' : 'failed, and is tried again';
};

const answerOf = ({ last_status: status, last_problem: problem, attempts }: Delivery): string => {
  const tries = attempts > 1 ? ` (${attempts} attempts)` : '';
  if (problem !== null) return `${problem}${tries}`;
  return status === null ? '—' : `${status}${tries}`;
};

/**
 * Loads again after something was sent, until it is listed with its answer or the attempts are used up. True: it will
 * load again.
 */
const useLooks = (sent: number, newest: Delivery | undefined, reload: () => void): boolean => {
  const [looks, setLooks] = useState({ done: LOOKS_AFTER_MS.length, before: newest?.event_id });
  useEffect(() => {
    if (sent > 0) setLooks({ done: 0, before: newest?.event_id });
  }, [sent]);
  const isThere = newest !== undefined && newest.event_id !== looks.before && newest.last_attempt_at !== null;
  const afterMs = isThere ? undefined : LOOKS_AFTER_MS[looks.done];
  useEffect(() => {
    if (afterMs === undefined) return;
    const timer = setTimeout(() => {
      reload();
      setLooks({ ...looks, done: looks.done + 1 });
    }, afterMs);
    return () => clearTimeout(timer);
  }, [looks, isThere]);
  return afterMs !== undefined;
};
