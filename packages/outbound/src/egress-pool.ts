/**
 * Bounds what is under way towards the outside. Beyond `maxConcurrent` requests wait in order, beyond `maxWaiting`
 * they are turned away: hosts that answer slowly cannot hold all of the process.
 */
import { OutboundFault, unreachable } from './answers.ts';

export class EgressPool {
  private readonly maxConcurrent: number;
  private readonly maxWaiting: number;
  private active = 0;
  private readonly waiting = new Set<() => void>();

  constructor(maxConcurrent: number, maxWaiting: number) {
    if (!(maxConcurrent >= 1)) throw new RangeError('maxConcurrent must be at least 1');
    this.maxConcurrent = maxConcurrent;
    this.maxWaiting = maxWaiting;
  }

  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    await this.enter(signal);
    try {
      return await task();
    } finally {
      this.leave();
    }
  }

  private async enter(signal: AbortSignal): Promise<void> {
    if (this.active < this.maxConcurrent) {
      this.active += 1;
      return;
    }
    if (this.waiting.size >= this.maxWaiting)
      throw new OutboundFault(unreachable('busy', 'too many outbound requests under way'));
    await new Promise<void>((resolve, reject) => {
      const admit = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.waiting.delete(admit);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.waiting.add(admit);
    });
  }

  /** The place goes straight to the one that has waited longest, so `active` stays as it is. */
  private leave(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.active -= 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
