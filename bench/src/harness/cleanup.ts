/**
 * Closes everything that was opened, in reverse order and once, whether the run succeeds, fails or is ended by a
 * signal.
 */
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type Close = () => Promise<unknown> | unknown;

export class Cleanup {
  private readonly pending: Close[] = [];
  private running: Promise<void> | null = null;

  private readonly onSignal = (signal: NodeJS.Signals): void =>
    void this.run().finally(() => process.exit(128 + constants.signals[signal]));

  constructor() {
    for (const signal of SIGNALS) process.once(signal, this.onSignal);
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
    for (const signal of SIGNALS) process.off(signal, this.onSignal);
  }
}
