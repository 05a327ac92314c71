/**
 * Limits how many expensive answers run at once on this node; most of them run while they are sent. One subject has a
 * few at most, and all together stay within what a process is sized for.
 */
import { FairLimiter, rateLimited, ServiceError, Tally, type Tenant } from '@svc/service';

const RETRY_AFTER_SECONDS = 2;

export interface TurnLimits {
  /** Name of these answers for messages, in the plural. */
  readonly what: string;
  /** Number under way at once. */
  readonly atOnce: number;
  readonly perOrg: number;
  /** Number that one subject may have running and waiting. */
  readonly perSubject: number;
  readonly maxWaiting: number;
  /** Milliseconds that an answer may wait for its place. */
  readonly waitMs: number;
}

export interface StreamLimits extends TurnLimits {
  /** Milliseconds that an answer may take from its first part on. A slower reader loses its place. */
  readonly streamMs: number;
}

/**
 * An export of at most 5,000 rows occupies a connection and holds two row groups of a cold day in memory: some 25 MB
 * with the largest Receipts that the service stores.
 */
export const EXPORTS: StreamLimits = {
  ...{ what: 'exports', atOnce: 8, perOrg: 3, perSubject: 3 },
  ...{ maxWaiting: 64, waitMs: 10_000, streamMs: 600_000 },
};

/**
 * Anyone may ask for the leaves of a day. They are hashed on the thread of decisions, a millisecond at a time for each
 * request.
 */
export const LEAVES: StreamLimits = {
  ...{ what: 'lists of leaves', atOnce: 4, perOrg: 2, perSubject: 2 },
  ...{ maxWaiting: 64, waitMs: 10_000, streamMs: 120_000 },
};

/**
 * Each holds up to 5,000 rows until they are added up, and its statement returns them all at once to the thread of
 * decisions.
 */
export const ACTIVITY: TurnLimits = {
  ...{ what: 'reports of activity', atOnce: 4, perOrg: 2, perSubject: 8 },
  ...{ maxWaiting: 64, waitMs: 5_000 },
};

const MS_EACH_LEAF = 0.12;

/**
 * Milliseconds that a list of `treeSize` leaves may take: two minutes for up to a million (5 Mbit/s), proportionally
 * more beyond. Even the slowest reader keeps others waiting no longer than this.
 */
export const leavesMs = (treeSize: number): number => Math.max(LEAVES.streamMs, treeSize * MS_EACH_LEAF);

export class Turns {
  readonly #limits: TurnLimits;
  readonly #running = new Tally();
  readonly #places: FairLimiter;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
    const { what, atOnce, perOrg, maxWaiting, waitMs } = limits;
    this.#places = new FairLimiter({
      ...{ atOnce, atOncePerOrg: perOrg, maxWaiting, waitMs },
      refuse: (why) =>
        new ServiceError(
          'SERVICE_UNAVAILABLE',
          `${atOnce} ${what} are running already; ask again when one may have ended.`,
          { detail: `${what}: ${why}`, retryAfterSeconds: RETRY_AFTER_SECONDS },
        ),
    });
  }

  /**
   * Starts `work` in its turn and settles as it does. Throws before the start: `RATE_LIMITED` when the tenant's subject
   * has its share already, `SERVICE_UNAVAILABLE` when the turn does not come in time.
   */
  async run<T>(tenant: Tenant, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(tenant);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Resolves in the tenant's turn with the function that frees the place. Throws as `run`. */
  protected async enter(tenant: Tenant): Promise<() => void> {
    const { what, perSubject } = this.#limits;
    const { subject } = tenant;
    if (this.#running.of(subject) >= perSubject)
      throw rateLimited(
        `${perSubject} ${what} are running already; wait for one to end.`,
        RETRY_AFTER_SECONDS,
      );
    this.#running.add(subject, 1);
    const end = () => this.#running.add(subject, -1);
    try {
      const leave = await this.#takePlace(tenant);
      return () => {
        leave();
        end();
      };
    } catch (error) {
      end();
      throw error;
    }
  }

  #takePlace(tenant: Tenant): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const stay = () => new Promise<void>((leave) => resolve(leave));
      this.#places.run({ tenant }, stay).catch(reject);
    });
  }
}

export class StreamTurns extends Turns {
  readonly #streamMs: number;

  constructor(limits: StreamLimits) {
    super(limits);
    this.#streamMs = limits.streamMs;
  }

  /**
   * The answer of an endpoint with these parts. `streamMs`: the time in which the client must read them; default: that
   * of the limits.
   */
  reply<Part>(tenant: Tenant, parts: AsyncIterable<Part>, streamMs = this.#streamMs) {
    return { stream: this.take(tenant, parts), streamMs };
  }

  /** The same parts; the first is produced in the tenant's turn. Throws before it as `run`. */
  async *take<Part>(tenant: Tenant, parts: AsyncIterable<Part>): AsyncGenerator<Part> {
    const leave = await this.enter(tenant);
    try {
      yield* parts;
    } finally {
      leave();
    }
  }
}
