/** The log of events (0010-events, 0050-who-is-behind). */
import type { EventLogRepository } from '@svc/service';
import { type Database, writeValue } from '../database.ts';

export function eventLogRepository(database: Database): EventLogRepository {
  return {
    async findPositionSince(sinceMs) {
      const text = `select position as value from event_log where logged_at >= svc_instant($1)
        order by logged_at, position limit 1`;
      return (await writeValue<number>(database, text, [sinceMs])) ?? null;
    },
    async findPositionOf(subscriptionId, eventId) {
      const text = `select l.position as value from event_log l
        join event_deliveries d on d.position = l.position and d.subscription_id = $1
        where l.event_id = $2`;
      return (await writeValue<number>(database, text, [subscriptionId, eventId])) ?? null;
    },
    async sequence(limit) {
      return (await writeValue<number>(database, 'select svc_move_events($1) as value', [limit])) ?? 0;
    },
    async forget(limit, keptDays, nowMs) {
      const text = 'select svc_forget_events($1, make_interval(days => $2), $3) as value';
      return (await writeValue<number>(database, text, [limit, keptDays, nowMs])) ?? 0;
    },
  };
}
