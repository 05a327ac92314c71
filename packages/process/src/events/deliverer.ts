/**
 * Delivers events until stopped. Three activities run side by side:
 *
 * - sending what is due;
 * - moving the outbox into the log, and opening deliveries for subscriptions that are behind;
 * - finding the relying parties that have verified what was revoked.
 *
 * Any number of processes may do so at once: one process takes a delivery, and another takes it once the lease has
 * expired.
 *
 * No tenant can hold all places. A tenant is an org with its members, or a subject outside every org.
 *
 * - Waiting tenants get one place each before any of them gets a second. An endpoint that fails has one place at most,
 *   and attempts become ever less frequent.
 * - Newcomers together have half of the places; the other tenants have the places that newcomers do not hold.
 * - Within each of these two kinds, a tenant may have 32 under way while half of the kind's places are free, 8 while a
 *   quarter is free, and 1 in the last quarter.
 *
 * So a tenant that has nothing under way waits for a place only if at least 38 other tenants of its kind hold all
 * places; and for some looks where more tenants and endpoints are due than one looks at (0066-looks-are-bounded).
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
  /** True: streams are pushed too. */
  readonly pushes: boolean;
  readonly onFailure: (error: unknown) => void;
  readonly onAttempt?: (outcome: AttemptOutcome) => void;
}

export interface EventDeliverer {
  /**
   * Takes no more deliveries, and waits at most 8 s for those under way. A delivery that is not answered by then is
   * repeated after its lease.
   */
  stop(): Promise<void>;
}

/** Milliseconds of each round that are spent on finding the relying parties that have verified what was revoked. */
const TOLD_FOR_MS = 300;
/**
 * Deliveries under way of one tenant, for all its endpoints together; a quarter of it, and then one, as places run out
 * (0034-fair-shares).
 */
const AT_ONCE = 32;
/** Number of receivers that are notified at once of a paused stream or of a failing endpoint that was disabled. */
const TOLD_AT_ONCE = 16;
/** More than the time limit of an endpoint plus that of the following access to storage. */
const LEASE_SECONDS = 60;
const LOOKS_EVERY_MS = 1_000;
/** Pause after a delivery has ended: deliveries that waited for it may be due now. */
const SOON_MS = 25;
const AFTER_FAILURE_MS = 5_000;
/** Less than the time limit of an endpoint: a worker ends within 10 s even if an endpoint does not answer. */
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

  /** Number of receivers that may be notified in addition to those being notified. */
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

  /** Occupies a place until `work` has ended. */
  private hold(work: Promise<void>, leave: () => void): void {
    const held = work.catch(this.deps.onFailure).finally(() => {
      this.underWay.delete(held);
      leave();
      this.lookSoon();
    });
    this.underWay.add(held);
  }

  /** Ends the wait of `oneOrMs`, since something may be due now. */
  lookSoon(): void {
    this.hasEnded = true;
    this.wake();
  }

  /** Waits until one delivery has ended, but at most `ms`. */
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

/** Work that runs beside the loop, one round of it at a time. */
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

  /** Resolves once no round is under way. */
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
        // Asking storage what is due takes at most half of the time.
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
 * Delivers what is due until nothing is due or `enough` is aborted, and then waits for deliveries under way. After
 * `stop` nothing is begun either, and deliveries under way are waited for at most 8 s, as by `EventDeliverer.stop`.
 * Rejects with `StoreError`.
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

/** While something holds decisions no event is sent, because the database may not be the right one. */
const maySend = async ({ clock, holds }: DelivererDeps): Promise<boolean> => {
  await clock.resync();
  return holds.list().length === 0;
};

/** Resolves with the number of steps. If a step fails, the next round begins with the next Principal. */
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

/** Resolves with the number of deliveries that were begun. */
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

/**
 * Notifies the receivers in places like those of deliveries, so that a receiver that does not answer delays no other
 * work.
 */
const disable = async (deps: DelivererDeps, sending: Sending): Promise<void> => {
  const limit = sending.freeToTell;
  if (limit === 0) return;
  for (const send of await disableFailing(deps, limit, deps.pushes)) sending.tell(send);
};
