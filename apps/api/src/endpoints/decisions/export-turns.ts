/**
 * How many exports run at once on this node: each keeps a connection busy for seconds, so one subject takes a few at most
 * and leaves the others their turn.
 */
import { type Caller, rateLimited } from '@svc/service';

const PER_SUBJECT = 3;
const RETRY_AFTER_SECONDS = 2;

export class ExportTurns {
  readonly #running = new Map<string, number>();

  /** The same parts. Throws `RATE_LIMITED` before the first one when the caller's subject has its share already. */
  async *take<Part>(caller: Caller, parts: AsyncIterable<Part>): AsyncGenerator<Part> {
    const subject = caller.subject ?? caller.class;
    const running = this.#running.get(subject) ?? 0;
    if (running >= PER_SUBJECT)
      throw rateLimited(
        `${PER_SUBJECT} exports are running already; wait for one to end.`,
        RETRY_AFTER_SECONDS,
      );
    this.#running.set(subject, running + 1);
    try {
      yield* parts;
    } finally {
      this.#leave(subject);
    }
  }

  #leave(subject: string): void {
    const left = (this.#running.get(subject) ?? 1) - 1;
    if (left === 0) this.#running.delete(subject);
    else this.#running.set(subject, left);
  }
}
