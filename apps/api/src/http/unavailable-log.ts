/**
 * What is logged of answers 503. While a backing service is away all requests fail alike, and each has its line in the
 * access log; why they did is told of a few in each second, with the number of those left out.
 */
import type { Logger } from 'pino';
import type { ApiError } from './api-error.ts';

const LINES_PER_SECOND = 5;

export class UnavailableLog {
  #second = 0;
  #lines = 0;
  #leftOut = 0;

  constructor(
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  write(context: object, { message, detail, cause }: ApiError): void {
    const second = Math.floor(this.nowMs() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#lines = 0;
    }
    if (this.#lines >= LINES_PER_SECOND) {
      this.#leftOut += 1;
      return;
    }
    this.#lines += 1;
    const leftOut = this.#leftOut === 0 ? {} : { leftOut: this.#leftOut };
    this.#leftOut = 0;
    this.logger.warn({ ...context, detail, err: cause, ...leftOut }, message);
  }
}
