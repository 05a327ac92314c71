/** What an endpoint was sent, and what it answered. After a test it looks again until the answer is there. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatInstant } from '../../shared/describe.ts';
import type { Delivery, DeliveryList } from '../../shared/wire.ts';
import { usePaged } from '../paged.ts';
import { Problem } from '../problem.tsx';
import type { Own } from '../session.ts';
import { ShortId } from '../short-id.tsx';

const PAGE_SIZE = '10';
const LOOK_EVERY_MS = 1_500;
const MOST_LOOKS = 8;

export interface DeliveriesProps {
  readonly own: Own;
  readonly path: string;
  /** Raised when something has been sent. */
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
  useLooks(sent, rows?.[0], reload);
  return (
    <details class="plain-details deliveries" open={sent > 0}>
      <summary>Deliveries{rows?.[0] !== undefined && `: the latest ${SAYS[rows[0].state]}`}</summary>
      <div class="row">
        <button type="button" class="button button-quiet" onClick={reload}>
          {isLoading ? 'Looking …' : 'Look again'}
        </button>
      </div>
      <Problem text={problem} />
      {rows?.length === 0 && (
        <p class="empty">Nothing has been sent yet. Send a test to see how it is answered.</p>
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
                    <p class="soft">next {formatInstant(row.next_attempt_at)}</p>
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
const SAYS = { delivered: 'was delivered', waiting: 'is on its way', failed: 'failed' } as const;

const answerOf = ({ last_status: status, last_problem: problem, attempts }: Delivery): string => {
  const tries = attempts > 1 ? ` (${attempts} attempts)` : '';
  if (problem !== null) return `${problem}${tries}`;
  return status === null ? '—' : `${status}${tries}`;
};

/** Looks again after something was sent, until it stands there with its answer, or a few times: it comes a moment later. */
const useLooks = (sent: number, newest: Delivery | undefined, reload: () => void): void => {
  const [looks, setLooks] = useState(0);
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    before.current = newest?.event_id;
    setLooks(sent === 0 ? 0 : MOST_LOOKS);
  }, [sent]);
  const isThere = newest !== undefined && newest.event_id !== before.current && newest.state !== 'waiting';
  useEffect(() => {
    if (looks === 0 || isThere) return;
    const timer = setTimeout(() => {
      reload();
      setLooks(looks - 1);
    }, LOOK_EVERY_MS);
    return () => clearTimeout(timer);
  }, [looks, isThere]);
};
