/**
 * How many exports run at once on this node: each keeps a connection busy for seconds, and two row groups of a cold day
 * in memory, so one subject takes a few at most, and all together no more than the memory of a process is made for.
 */
import { type Caller, FairLimiter, rateLimited, ServiceError, tenantOf } from '@svc/service';

const PER_SUBJECT = 3;
const RETRY_AFTER_SECONDS = 2;

/** Exports under way at once; each takes some 25 MB with the largest Receipts that the service stores. */
const AT_ONCE = 8;
const PER_ORG = 3;
const MAX_WAITING = 64;
/** How long an export waits for its place, before the first part. */
const WAIT_MS = 10_000;

export class ExportTurns {
  readonly #running = new Map<string, number>();
  readonly #places: FairLimiter;

  constructor({ atOnce = AT_ONCE, waitMs = WAIT_MS }: { atOnce?: number; waitMs?: number } = {}) {
    this.#places = new FairLimiter({
      ...{ atOnce, atOncePerOrg: PER_ORG, maxWaiting: MAX_WAITING, waitMs },
      refuse: (why) =>
        new ServiceError(
          'SERVICE_UNAVAILABLE',
          `${atOnce} exports are running already; ask again when one may have ended.`,
          { detail: `exports: ${why}`, retryAfterSeconds: RETRY_AFTER_SECONDS },
        ),
    });
  }

  /**
   * The same parts, the first in its turn. Throws before it: `RATE_LIMITED` when the caller's subject has its share already,
   * `SERVICE_UNAVAILABLE` when its turn does not come in time.
   */
  async *take<Part>(caller: Caller, parts: AsyncIterable<Part>): AsyncGenerator<Part> {
    const { subject } = tenantOf(caller);
    const running = this.#running.get(subject) ?? 0;
    if (running >= PER_SUBJECT)
      throw rateLimited(
        `${PER_SUBJECT} exports are running already; wait for one to end.`,
        RETRY_AFTER_SECONDS,
      );
    this.#running.set(subject, running + 1);
    try {
      const leave = await this.#enter(caller);
      try {
        yield* parts;
      } finally {
        leave();
      }
    } finally {
      this.#leave(subject);
    }
  }

  /** Answers in the caller's turn, with what gives the place back. */
  #enter(caller: Caller): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const stay = () => new Promise<void>((leave) => resolve(leave));
      this.#places.run({ tenant: tenantOf(caller) }, stay).catch(reject);
    });
  }

  #leave(subject: string): void {
    const left = (this.#running.get(subject) ?? 1) - 1;
    if (left === 0) this.#running.delete(subject);
    else this.#running.set(subject, left);
  }
}
