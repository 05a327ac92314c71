/**
 * Limits the log lines about a fault that affects many callers at once to a few a second. The next line after that has
 * the number of lines left out.
 */
const LINES_PER_SECOND = 5;

export class FewLines {
  #second = 0;
  #lines = 0;
  #leftOut = 0;

  constructor(
    private readonly log: (fields: object, message: string) => void,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  write(fields: object, message: string): void {
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
    this.log({ ...fields, ...leftOut }, message);
  }
}
