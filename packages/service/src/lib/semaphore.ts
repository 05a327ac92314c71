/**
 * Work that comes in bursts and is slow enough to use up the connections of everybody else: so much of it at once, the
 * rest in line, and no longer line than can be served.
 */
import { serviceUnavailable } from '../errors.ts';

export class Turnstile {
  private free: number;
  private readonly line: (() => void)[] = [];

  constructor(
    atOnce: number,
    private readonly maxWaiting: number,
  ) {
    this.free = atOnce;
  }

  /** Settles as `work` does, which is begun in its turn. `SERVICE_UNAVAILABLE`: the line is full. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private async enter(): Promise<void> {
    if (this.free > 0) {
      this.free--;
      return;
    }
    if (this.line.length >= this.maxWaiting) throw serviceUnavailable('turnstile: the line is full');
    await new Promise<void>((resolve) => this.line.push(resolve));
  }

  /** The place goes to the next in line, or is free. */
  private leave(): void {
    const next = this.line.shift();
    if (next === undefined) this.free++;
    else next();
  }
}
