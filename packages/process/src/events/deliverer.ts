/**
 * Delivers events until stopped: sends what is due, beside that moves the outbox into the log and opens deliveries for
 * those who are behind, and beside both looks for those who have verified what was revoked. Any number of processes may
 * do so at once: a delivery is taken by one of them, and by another once its lease has lapsed.
 *
 * Nobody can hold all places. A tenant is an org with its members, or a subject outside every org. Those in turn get
 * one place each before any gets a second, and an endpoint that fails has one at most and is asked ever more rarely.
 * Newcomers together have half of the places, the others what newcomers have not; within each of these, a tenant may
 * have 32 under way while half of it is free, 8 while a quarter is, and one of the last quarter. So whoever has nothing
 * under way waits for a place where 38 other tenants of its kind hold all of theirs, and not for fewer.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AttemptOutcome,
  type Clock,
  type DeliveryDeps,
  deliver,
  disableFailing,
  type EventDeliveryRepository,
  type EventLogRepository,
  type Holds,
  messageOf,
  type RevocationNoticeRepository,
  type TakenDelivery,
  VerifierTurns,
  withinMs,
} from '@svc/service';
import { readLog } from './read-log.ts';
import { WEBHOOK_PLACES } from './transport.ts';

export interface DelivererDeps extends Omit<DeliveryDeps, 'eventDeliveries' | 'clock'> {
  readonly eventLog: Pick<EventLogRepository, 'sequence'>;
  readonly eventDeliveries: EventDeliveryRepository;
  readonly revocationNotices: RevocationNoticeRepository;
  readonly clock: Pick<Clock, 'nowMs' | 'resync'>;
  readonly holds: Pick<Holds, 'list'>;
  /** Streams that are pushed too. */
  readonly pushes: boolean;
  readonly onFailure: (error: unknown) => void;
  readonly onAttempt?: (outcome: AttemptOutcome) => void;
}

export interface EventDeliverer {
  /** Takes no more, and waits at most 8 s for what is under way. What is not answered by then is delivered again after its lease. */
  stop(): Promise<void>;
}

/** Milliseconds of each look in which the relying parties that have verified what was revoked are searched for. */
const TOLD_FOR_MS = 300;
/** Under way of a tenant, all its endpoints together; a quarter of it and one as places run out (0034-fair-shares). */
const AT_ONCE = 32;
/**
 * Number of receivers that are told at once that their stream was paused, and of failing endpoints that are disabled at
 * once.
 */
const TOLD_AT_ONCE = 16;
/** Above what an endpoint has, and storage after it. */
const LEASE_SECONDS = 60;
const LOOKS_EVERY_MS = 1_000;
/** After something was delivered: what stood behind it may go now. */
const SOON_MS = 25;
const AFTER_FAILURE_MS = 5_000;
/** Less than an endpoint has: a worker ends within 10 s, whoever does not answer it. */
const STOP_WITHIN_MS = 8_000;

/** The deliveries that this process has under way. */
class Sending {
  private readonly underWay = new Set<Promise<void>>();
  private wake: () => void = () => {};
  private hasEnded = false;
  private newcomers = 0;
  private told = 0;

  constructor(private readonly deps: DelivererDeps) {}

  get free(): number {
    return WEBHOOK_PLACES - this.underWay.size;
  }

  /** How many receivers may be told beside those that are. */
  get freeToTell(): number {
    return Math.min(this.free, TOLD_AT_ONCE - this.told);
  }

  get byCrowd(): { readonly newcomers: number; readonly others: number } {
    return { newcomers: this.newcomers, others: this.underWay.size - this.newcomers };
  }

  begin(delivery: TakenDelivery): void {
    const newcomers = delivery.isNewcomer ? 1 : 0;
    this.newcomers += newcomers;
    const attempt = deliver(this.deps, delivery).then((outcome) => this.deps.onAttempt?.(outcome));
    this.hold(attempt, () => {
      this.newcomers -= newcomers;
    });
  }

  tell(send: () => Promise<void>): void {
    this.told += 1;
    this.hold(send(), () => {
      this.told -= 1;
    });
  }

  /** Has a place until it has ended. */
  private hold(work: Promise<void>, leave: () => void): void {
    const held = work.catch(this.deps.onFailure).finally(() => {
      this.underWay.delete(held);
      leave();
      this.lookSoon();
    });
    this.underWay.add(held);
  }

  /** Ends the wait of `oneOrMs`: something may be due now. */
  lookSoon(): void {
    this.hasEnded = true;
    this.wake();
  }

  /** Until one has ended, or so long. */
  async oneOrMs(ms: number, soonMs: number, stop: AbortSignal): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.wake = resolve;
      if (this.hasEnded) resolve();
    });
    const timer = new AbortController();
    const signal = AbortSignal.any([stop, timer.signal]);
    await Promise.race([ended.then(() => pause(soonMs)), pause(ms, undefined, { signal }).catch(() => {})]);
    timer.abort();
    this.hasEnded = false;
  }

  async all(): Promise<void> {
    await Promise.all(this.underWay);
  }
}

/** Work beside the loop: one round of it at a time. */
class Beside {
  private round: Promise<void> | null = null;

  constructor(
    private readonly work: () => Promise<unknown>,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  begin(): void {
    this.round ??= this.work()
      .then(() => {}, this.onFailure)
      .finally(() => {
        this.round = null;
      });
  }

  /** Once no round is under way. */
  get ended(): Promise<void> {
    return this.round ?? Promise.resolve();
  }
}

export const startEventDeliverer = (deps: DelivererDeps): EventDeliverer => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const sending = new Sending(deps);
  const turns = new VerifierTurns(deps.revocationNotices);
  const reading = new Beside(async () => {
    const { opened } = await readLog(deps, signal);
    if (opened > 0) sending.lookSoon();
  }, deps.onFailure);
  const telling = new Beside(() => tellVerifiers(deps, turns, signal), deps.onFailure);
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const lookedMs = performance.now();
        if (await maySend(deps)) {
          reading.begin();
          telling.begin();
          await disable(deps, sending);
          await sendDue(deps, sending);
        }
        // Half of the time at the most storage is asked what is due.
        await sending.oneOrMs(LOOKS_EVERY_MS, Math.max(SOON_MS, performance.now() - lookedMs), signal);
      } catch (error) {
        deps.onFailure(error);
        await pause(AFTER_FAILURE_MS, undefined, { signal }).catch(() => {});
      }
    }
    await Promise.all([sending.all(), reading.ended, telling.ended]);
  };
  const ended = loop();
  return {
    stop: async () => {
      stopping.abort();
      await withinMs(STOP_WITHIN_MS, ended, () => {});
    },
  };
};

/**
 * Delivers what is due until nothing is, or `enough`, and waits for what is under way then. After `stop` nothing is begun either,
 * and what is under way is waited for at most 8 s, as by `EventDeliverer.stop`. Rejects with `StoreError`.
 */
export const deliverDue = async (
  deps: DelivererDeps,
  stop: AbortSignal,
  enough: AbortSignal = stop,
): Promise<void> => {
  const sending = new Sending(deps);
  const over = AbortSignal.any([stop, enough]);
  const stopped = new Promise<void>((resolve) => {
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
  const givenUp = new Promise<void>((resolve) => {
    stop.addEventListener('abort', () => void setTimeout(resolve, STOP_WITHIN_MS).unref(), { once: true });
  });
  const turns = new VerifierTurns(deps.revocationNotices);
  while (!over.aborted && (await maySend(deps))) {
    const read = await readLog(deps, over);
    const told = await tellVerifiers(deps, turns, over);
    if (over.aborted) break;
    await disable(deps, sending);
    const begun = await sendDue(deps, sending);
    await Promise.race([sending.all(), stopped]);
    if (read.isDone && read.sequenced + read.opened + told + begun === 0) break;
  }
  await Promise.race([sending.all(), givenUp]);
};

/** While something holds decisions nothing is told: the database may not be the one. */
const maySend = async ({ clock, holds }: DelivererDeps): Promise<boolean> => {
  await clock.resync();
  return holds.list().length === 0;
};

/** Answers in how many steps. Where one fails, the next look begins with the next Principal. */
const tellVerifiers = async (
  { log }: DelivererDeps,
  turns: VerifierTurns,
  stop: AbortSignal,
): Promise<number> => {
  const endsMs = performance.now() + TOLD_FOR_MS;
  let steps = 0;
  try {
    while (!stop.aborted && performance.now() < endsMs && (await turns.tellNext())) steps++;
  } catch (error) {
    log.warn('webhook.verifiers_not_told', { principal: turns.principal, reason: messageOf(error) });
  }
  return steps;
};

/** Answers how many deliveries were begun. */
const sendDue = async ({ eventDeliveries, pushes }: DelivererDeps, sending: Sending): Promise<number> => {
  const { free } = sending;
  if (free === 0) return 0;
  const taken = await eventDeliveries.take(free, {
    ...{ atOnce: AT_ONCE, ofTenant: AT_ONCE },
    ...{ underWay: sending.byCrowd, forSeconds: LEASE_SECONDS, pushes },
  });
  for (const delivery of taken) sending.begin(delivery);
  return taken.length;
};

/** Their receivers are told in places like those of deliveries: nobody waits for one that does not answer. */
const disable = async (deps: DelivererDeps, sending: Sending): Promise<void> => {
  const limit = sending.freeToTell;
  if (limit === 0) return;
  for (const send of await disableFailing(deps, limit, deps.pushes)) sending.tell(send);
};
