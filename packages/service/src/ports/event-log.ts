/**
 * Storage of the event log (protocol §15). The database writes each event into an outbox, in the transaction of the
 * fact that the event reports. `sequence` moves events from the outbox into the log in order.
 */

export interface EventLogRepository {
  /** Position of the first event that was logged at or after `sinceMs`; null: there is none. */
  findPositionSince(sinceMs: number): Promise<number | null>;
  /** Position of the event; null where it is not one of the subscription's, or is deleted. */
  findPositionOf(subscriptionId: string, eventId: string): Promise<number | null>;
  /**
   * Moves events into the log, in order, once no earlier event can still be committed, and notes which subscriptions
   * are behind. Answers how many events these were; for events to all, the noted subscriptions are added.
   */
  sequence(limit: number): Promise<number>;
  /**
   * Deletes at most `limit` events older than `keptDays`, at most `limit` of their deliveries, and at most `limit` rows
   * of each kind that deleted subscriptions leave. An event is deleted once it has no delivery. Answers the largest of
   * these numbers.
   */
  forget(limit: number, keptDays: number, nowMs: number): Promise<number>;
}
