/**
 * Which server the sessions of a store may be with. After a failover there are two for a while: the one that was promoted, and
 * the one that was replaced, whose open sessions answer again when it wakes. The fence tells which one counts (protocol §10); here that is
 * asked of memory, for each session before it is used and once more before what it answered is.
 */
import { withinMs } from '@svc/service';

export class Standing {
  #trusted: string | null = null;
  readonly #doubted = new Set<string>();
  /** Asks whoever keeps the fence to look now. */
  #ask: (() => void) | null = null;
  /** Sessions that wait for what it says. */
  readonly #waiting = new Set<() => void>();

  /** From now on this one, and no other. */
  trust(server: string): void {
    this.#trusted = server;
    this.#doubted.delete(server);
    this.#tell();
  }

  /** Not this one, until it is trusted again. */
  doubt(server: string): void {
    this.#doubted.add(server);
    const [oldest] = this.#doubted;
    if (this.#doubted.size > MAX_DOUBTED && oldest !== undefined) this.#doubted.delete(oldest);
    this.#tell();
  }

  /** `ask` is called whenever a session was opened with a server that is neither trusted nor doubted. */
  onUnknown(ask: () => void): void {
    this.#ask = ask;
  }

  /**
   * Whether a session that was just opened may be used. One with a server of which nothing is known waits, for half a second at most, until
   * the fence was asked: after a failover what is opened first is used as soon as that server is trusted.
   */
  async settles(server: string): Promise<boolean> {
    const isUnknown = !this.counts(server) && !this.isDoubted(server);
    if (isUnknown && this.#ask !== null) {
      let told = () => {};
      const isTold = new Promise<void>((resolve) => {
        told = resolve;
        this.#waiting.add(told);
      });
      this.#ask();
      await withinMs(SETTLE_MS, isTold, () => {});
      this.#waiting.delete(told);
    }
    return this.counts(server);
  }

  #tell(): void {
    for (const told of this.#waiting) told();
  }

  isDoubted(server: string): boolean {
    return this.#doubted.has(server);
  }

  /** Every server that is not doubted, as long as none was trusted: a deployment without a fence, or one that starts. */
  counts(server: string): boolean {
    return !this.isDoubted(server) && (this.#trusted === null || this.#trusted === server);
  }
}

const SETTLE_MS = 500;
/** Each is a server's process: a few failovers back, none of them lives. */
const MAX_DOUBTED = 16;
