/**
 * The log of events (protocol §15). Events are written into an outbox by the database, in the transaction of the fact that
 * they tell, and moved into the log in order.
 */

export interface EventLogRepository {
  /** Where in the log the first event logged at or after `sinceMs` is; null: there is none. */
  findPositionSince(sinceMs: number): Promise<number | null>;
  /** Null where the subscription has not been told of it, or no longer. */
  findPositionOf(subscriptionId: string, eventId: string): Promise<number | null>;
  /**
   * Moves events that no earlier one can precede any more into the log, in order, and notes who is behind with them. Answers
   * how many these were; of what all are told, with the subscriptions that were noted.
   */
  sequence(limit: number): Promise<number>;
  /**
   * Forgets at most `limit` events of the log that are older than `keptDays`, at most as many of their deliveries, and as
   * many rows of each other kind that was deleted. An event goes once it has no delivery. Answers the largest of these numbers.
   */
  forget(limit: number, keptDays: number, nowMs: number): Promise<number>;
}
