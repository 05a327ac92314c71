/** Has the events from a given time on delivered again. */
import { DAY_MS } from '@svc/protocol';
import { Confirm } from '../../shared/confirm.tsx';
import type { Own } from '../session.ts';

/** In the format of `datetime-local`; the page reads it as UTC. */
const localOf = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

export interface ReplayProps {
  readonly own: Own;
  readonly path: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export const Replay = ({ own, path, onDone, onClose }: ReplayProps) => {
  const nowMs = Date.now();
  return (
    <Confirm
      title="Replay events"
      verb="Replay"
      busy="Beginning …"
      act={({ since = '' }) => own.call(`${path}/replay`, { body: { since: `${since}:00Z` } })}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        Everything from this time on is sent again, in order and under the same ids, so your endpoint can tell
        what it has already. Thirty days back at most.
      </p>
      <label class="field">
        <span>From, in UTC</span>
        <input
          name="since"
          type="datetime-local"
          required
          defaultValue={localOf(nowMs - DAY_MS)}
          min={localOf(nowMs - 30 * DAY_MS)}
          max={localOf(nowMs)}
        />
      </label>
    </Confirm>
  );
};
