/**
 * Delivers events until stopped: moves the outbox into the log, opens deliveries for those who are behind, and sends what is due.
 * Any number of processes may do so at once: a delivery is taken by one of them, and by another once its lease has lapsed.
 *
 * No endpoint waits for another: those in turn get one place each before any gets a second, an endpoint that fails has one at
 * most and is asked ever more rarely, and half of the places is for endpoints with few requests under way.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Clock,
  type DeliveryDeps,
  deliver,
  type EventRepository,
  type Holds,
  type TakenDelivery,
  withinMs,
} from '@svc/service';
import { WEBHOOK_PLACES, WEBHOOK_TIMEOUT_MS } from './transport.ts';

export interface DelivererDeps extends Omit<DeliveryDeps, 'events' | 'clock'> {
  readonly events: EventRepository;
  readonly clock: Pick<Clock, 'nowMs' | 'resync'>;
  readonly holds: Pick<Holds, 'list'>;
  readonly onFailure: (error: unknown) => void;
}

export interface EventDeliverer {
  /** Takes no more, and waits for what is under way: within the time that an endpoint has. */
  stop(): Promise<void>;
}

const SEQUENCED_AT_ONCE = 1_000;
/** Open deliveries of a subscription. */
const WINDOW = 1_000;
const AT_ONCE = 32;
const AT_ONCE_WHEN_BUSY = 4;
/** Above what an endpoint has, and storage after it. */
const LEASE_SECONDS = 60;
const LOOKS_EVERY_MS = 1_000;
/** After something was delivered: what stood behind it may go now. */
const SOON_MS = 25;
const AFTER_FAILURE_MS = 5_000;

/** The deliveries that this process has under way. */
class Sending {
  private readonly underWay = new Set<Promise<void>>();
  private wake: () => void = () => {};
  private hasEnded = false;

  constructor(private readonly deps: DelivererDeps) {}

  get free(): number {
    return WEBHOOK_PLACES - this.underWay.size;
  }

  begin(delivery: TakenDelivery): void {
    const sent = deliver(this.deps, delivery)
      .then(() => {}, this.deps.onFailure)
      .finally(() => {
        this.underWay.delete(sent);
        this.hasEnded = true;
        this.wake();
      });
    this.underWay.add(sent);
  }

  /** Until one has ended, or so long. */
  async oneOrMs(ms: number, stop: AbortSignal): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.wake = resolve;
      if (this.hasEnded) resolve();
    });
    const timer = new AbortController();
    const signal = AbortSignal.any([stop, timer.signal]);
    await Promise.race([ended.then(() => pause(SOON_MS)), pause(ms, undefined, { signal }).catch(() => {})]);
    timer.abort();
    this.hasEnded = false;
  }

  async all(): Promise<void> {
    await Promise.all(this.underWay);
  }
}

export const startEventDeliverer = (deps: DelivererDeps): EventDeliverer => {
  const stopping = new AbortController();
  const sending = new Sending(deps);
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await runPass(deps, sending);
        await sending.oneOrMs(LOOKS_EVERY_MS, stopping.signal);
      } catch (error) {
        deps.onFailure(error);
        await pause(AFTER_FAILURE_MS, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
    await sending.all();
  };
  const ended = loop();
  return {
    stop: async () => {
      stopping.abort();
      await withinMs(WEBHOOK_TIMEOUT_MS + 2_000, ended, () => {});
    },
  };
};

/** Delivers what is due until nothing is. Rejects with `StoreError`. */
export const deliverDue = async (deps: DelivererDeps, stop: AbortSignal): Promise<void> => {
  const sending = new Sending(deps);
  while (!stop.aborted && (await runPass(deps, sending)) > 0) await sending.all();
  await sending.all();
};

/** Answers how many deliveries were begun. While something holds decisions nothing is told: the database may not be the one. */
const runPass = async (deps: DelivererDeps, sending: Sending): Promise<number> => {
  const { events, clock, holds } = deps;
  await clock.resync();
  if (holds.list().length > 0) return 0;
  while ((await events.sequence(SEQUENCED_AT_ONCE)) === SEQUENCED_AT_ONCE);
  for (const subscriptionId of await events.listBehind()) await events.open(subscriptionId, WINDOW);
  const { free } = sending;
  if (free === 0) return 0;
  const atOnce = free > WEBHOOK_PLACES / 2 ? AT_ONCE : AT_ONCE_WHEN_BUSY;
  const taken = await events.take(free, atOnce, LEASE_SECONDS);
  for (const delivery of taken) sending.begin(delivery);
  return taken.length;
};
