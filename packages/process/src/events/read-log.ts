/**
 * Moves the outbox into the log, and opens deliveries for subscriptions that are behind. Any number of processes may do
 * so at once.
 */
import {
  type DeliveryDeps,
  type EventDeliveryRepository,
  type EventLogRepository,
  messageOf,
  type OpenedDeliveries,
} from '@svc/service';

export interface ReadLogDeps {
  readonly eventLog: Pick<EventLogRepository, 'sequence'>;
  readonly eventDeliveries: Pick<EventDeliveryRepository, 'takeBehind' | 'open'>;
  readonly log: Pick<DeliveryDeps['log'], 'warn'>;
}

const SEQUENCED_AT_ONCE = 1_000;
const MOVED_FOR_MS = 500;
/** Number of subscriptions of each queue (0050-who-is-behind) between two checks of the time limit. */
const OPENED_AT_ONCE = 50;
const OPENED_FOR_MS = 500;
/** Maximum number of open deliveries of a subscription. */
const WINDOW = 1_000;

interface ReadLog {
  readonly sequenced: number;
  readonly opened: number;
  /** False: there may be more to open. */
  readonly isDone: boolean;
}

/**
 * A failure to move events does not prevent opening deliveries for events in the log. Rejects with `StoreError` only
 * after that.
 */
export const readLog = async (deps: ReadLogDeps, stop: AbortSignal): Promise<ReadLog> => {
  const moving = await moveEvents(deps, stop).then(
    (sequenced) => ({ sequenced, failure: null }),
    (error: unknown) => ({ sequenced: 0, failure: { error } }),
  );
  const opened = await openDeliveries(deps, stop);
  if (moving.failure !== null) throw moving.failure.error;
  return { sequenced: moving.sequenced, ...opened };
};

/** Moves events until none is left, or for half a second, so that events in the log do not wait for all new ones. */
const moveEvents = async ({ eventLog }: ReadLogDeps, stop: AbortSignal): Promise<number> => {
  const endsMs = performance.now() + MOVED_FOR_MS;
  let sequenced = 0;
  for (let moved = SEQUENCED_AT_ONCE; moved >= SEQUENCED_AT_ONCE; sequenced += moved) {
    if (stop.aborted || performance.now() >= endsMs) break;
    moved = await eventLog.sequence(SEQUENCED_AT_ONCE);
  }
  return sequenced;
};

/**
 * Handles each subscription that is behind once, and then in turn those that stopped at events which they do not want,
 * for half a second at most; then new events are moved first.
 */
const openDeliveries = async (deps: ReadLogDeps, stop: AbortSignal): Promise<Omit<ReadLog, 'sequenced'>> => {
  const endsMs = performance.now() + OPENED_FOR_MS;
  const seen = new Set<string>();
  const unread: string[] = [];
  let opened = 0;
  let haveAllBeenSeen = false;
  while (!stop.aborted && performance.now() < endsMs) {
    const behind: readonly string[] = haveAllBeenSeen
      ? []
      : await deps.eventDeliveries.takeBehind(OPENED_AT_ONCE);
    const unseen = behind.filter((id) => !seen.has(id));
    haveAllBeenSeen ||= unseen.length === 0;
    const next = haveAllBeenSeen ? unread.splice(0, OPENED_AT_ONCE) : unseen;
    if (next.length === 0) return { opened, isDone: true };
    for (const subscriptionId of next) {
      seen.add(subscriptionId);
      if (stop.aborted) break;
      const part = await openFor(deps, subscriptionId);
      opened += part.opened;
      if (part.hasMore) unread.push(subscriptionId);
    }
  }
  return { opened, isDone: false };
};

/** If the deliveries of a subscription cannot be opened, those of others still are. */
const openFor = async (
  { eventDeliveries, log }: ReadLogDeps,
  subscriptionId: string,
): Promise<OpenedDeliveries> => {
  try {
    return await eventDeliveries.open(subscriptionId, WINDOW);
  } catch (error) {
    log.warn('webhook.not_opened', { subscription_id: subscriptionId, reason: messageOf(error) });
    return { opened: 0, hasMore: false };
  }
};
