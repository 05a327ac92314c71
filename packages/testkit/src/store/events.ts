/** Subscriptions as the service creates them, and the events written for their audience. */
import { randomBytes } from 'node:crypto';
import { eventData } from '@svc/contract';
import { encodeUlid } from '@svc/protocol';
import {
  type EventAudience,
  type EventSubscriptionRecord,
  type EventType,
  type Store,
  VerifierTurns,
} from '@svc/service';
import { runSql } from './session.ts';

export const insertSubscription = (
  store: Store,
  audience: EventAudience,
  types: readonly EventType[],
  budgetLowPercent = 20,
): Promise<EventSubscriptionRecord> =>
  store.transaction((tx) =>
    tx.eventSubscriptions.insert(
      {
        subscriptionId: `whs_${encodeUlid(Date.now(), randomBytes(10))}`,
        audience,
        url: 'https://hooks.example/svc',
        description: null,
        types,
        budgetLowPercent,
        createdBy: null,
      },
      'root',
    ),
  );

export interface Told {
  readonly event_id: string;
  readonly audience: string;
  readonly type: string;
  readonly order_key: string | null;
  readonly data: string;
}

/** Events of the outbox and the log, in order; checks that `data` of each is as the contract defines it. */
export const listTold = async (url: string, audience: string): Promise<Told[]> => {
  const told = await runSql<Told>(
    url,
    `select event_id, audience, type, order_key, data from (
         select 1 as part, position as place, event_id, audience, type, order_key, data from event_log
         union all select 2, seq, event_id, audience, type, order_key, data from event_outbox) as e
       where audience = $1 order by part, place`,
    [audience],
  );
  for (const { type, data } of told) eventData[type as keyof typeof eventData].parse(JSON.parse(data));
  return told;
};

/**
 * Repeats until all events are in the log, and all verifiers of what was revoked are told: an open transaction anywhere
 * on the server may still hold events back.
 */
export const sequenceAll = async (url: string, store: Store): Promise<void> => {
  const turns = new VerifierTurns(store.revocationNotices);
  const left = `select from (
      select audience from event_outbox
      union all select audience from event_log where audience like 'verifiers did:%') as e limit 1`;
  while ((await runSql(url, left)).length > 0) {
    await store.eventLog.sequence(10_000);
    await turns.tellNext();
  }
};

/** Opens deliveries of all subscriptions that are behind, until each has been asked once. */
export const openBehind = async ({ eventDeliveries }: Store, window = 1_000): Promise<void> => {
  const asked = new Set<string>();
  for (;;) {
    const next = (await eventDeliveries.takeBehind(1_000)).filter((id) => !asked.has(id));
    if (next.length === 0) return;
    for (const id of next) await eventDeliveries.open(id, window);
    for (const id of next) asked.add(id);
  }
};
