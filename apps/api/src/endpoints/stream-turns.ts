/**
 * How many answers that are dear to make run at once on this node, most of them while they are sent. One subject takes a few
 * at most, and all together no more than a process is made for.
 */
import { FairLimiter, rateLimited, ServiceError, Tally, type Tenant } from '@svc/service';

const RETRY_AFTER_SECONDS = 2;

export interface TurnLimits {
  /** What there is too much of, in the plural. */
  readonly what: string;
  /** Number under way at once. */
  readonly atOnce: number;
  readonly perOrg: number;
  /** Number that one subject has under way and in line. */
  readonly perSubject: number;
  readonly maxWaiting: number;
  /** How long one waits for its place. */
  readonly waitMs: number;
}

export interface StreamLimits extends TurnLimits {
  /** Milliseconds for one from its first part on. A slower reader loses its place. */
  readonly streamMs: number;
}

/**
 * An export of at most 5,000 rows keeps a connection busy, and two row groups of a cold day in memory: some 25 MB with the
 * largest Receipts that the service stores.
 */
export const EXPORTS: StreamLimits = {
  ...{ what: 'exports', atOnce: 8, perOrg: 3, perSubject: 3 },
  ...{ maxWaiting: 64, waitMs: 10_000, streamMs: 600_000 },
};

/** Leaves of a day are hashed on the thread of decisions, for anybody: a millisecond at a time for each of these. */
export const LEAVES: StreamLimits = {
  ...{ what: 'lists of leaves', atOnce: 4, perOrg: 2, perSubject: 2 },
  ...{ maxWaiting: 64, waitMs: 10_000, streamMs: 120_000 },
};

/** Each holds up to 5,000 rows until they are added up, and its statement gives them all at once to the thread of decisions. */
export const ACTIVITY: TurnLimits = {
  ...{ what: 'reports of activity', atOnce: 4, perOrg: 2, perSubject: 8 },
  ...{ maxWaiting: 64, waitMs: 5_000 },
};

const MS_EACH_LEAF = 0.12;

/**
 * How long a list of so many leaves may take: two minutes for a million and fewer (5 Mbit/s), for more in proportion. Who reads as
 * slowly as can be keeps others waiting no longer.
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
   * Settles as `work` does, which is begun in its turn. Throws before it: `RATE_LIMITED` when the tenant's subject has its share
   * already, `SERVICE_UNAVAILABLE` when its turn does not come in time.
   */
  async run<T>(tenant: Tenant, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(tenant);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Answers in the tenant's turn, with what gives the place back. Throws as `run`. */
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

  /** What an endpoint answers with these parts. `streamMs`: in which they must be read; that of the limits unless given. */
  reply<Part>(tenant: Tenant, parts: AsyncIterable<Part>, streamMs = this.#streamMs) {
    return { stream: this.take(tenant, parts), streamMs };
  }

  /** The same parts, the first in its turn. Throws before it as `run`. */
  async *take<Part>(tenant: Tenant, parts: AsyncIterable<Part>): AsyncGenerator<Part> {
    const leave = await this.enter(tenant);
    try {
      yield* parts;
    } finally {
      leave();
    }
  }
}
