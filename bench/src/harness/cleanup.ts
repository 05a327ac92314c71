/** What was opened, closed in reverse order, once, whether the run ends well, badly or by a signal. */
import { constants } from 'node:os';

type Close = () => Promise<unknown> | unknown;

export class Cleanup {
  private readonly pending: Close[] = [];
  private running: Promise<void> | null = null;

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(
        signal,
        () => void this.run().finally(() => process.exit(128 + constants.signals[signal])),
      );
  }

  add(close: Close): void {
    this.pending.push(close);
  }

  run(): Promise<void> {
    this.running ??= this.closeAll();
    return this.running;
  }

  private async closeAll(): Promise<void> {
    for (let close = this.pending.pop(); close !== undefined; close = this.pending.pop()) {
      try {
        await close();
      } catch (problem) {
        console.error(problem);
      }
    }
  }
}
