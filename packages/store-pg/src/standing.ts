/**
 * Which server the sessions of a store may be with. After a failover there are two for a while: the one that was
 * promoted, and the one that was replaced, whose open sessions answer again when it wakes. The fence tells which one
 * counts (protocol §10); here that is asked of memory, for each session before it is used and once more before what it
 * answered is.
 */
import { withinMs } from '@svc/service';

export class Standing {
  #trusted: string | null = null;
  readonly #doubted = new Set<string>();
  /** Asks whoever keeps the fence to look now. */
  #ask: (() => void) | null = null;
  /** Looks that were begun. */
  #looks = 0;
  /** Sessions that wait, each for what a look says that is begun after it was opened. */
  readonly #waiting = new Map<() => void, { readonly server: string; readonly looks: number }>();

  /** What is said from now on is what this look found. */
  beginLook(): void {
    this.#looks += 1;
  }

  /** Trusts this server from now on, and no other. */
  trust(server: string): void {
    this.#trusted = server;
    this.#doubted.delete(server);
    for (const [told, one] of this.#waiting) if (one.server === server || one.looks < this.#looks) told();
  }

  /** Not this one, until it is trusted again. */
  doubt(server: string): void {
    this.#addDoubted(server);
    // This says nothing of other servers.
    for (const [told, one] of this.#waiting) if (one.server === server) told();
  }

  #addDoubted(server: string): void {
    this.#doubted.delete(server);
    this.#doubted.add(server);
    const [oldest] = this.#doubted;
    if (this.#doubted.size > MAX_DOUBTED && oldest !== undefined) this.#doubted.delete(oldest);
  }

  /** `ask` is called whenever a session was opened with a server that is neither trusted nor doubted. */
  onUnknown(ask: () => void): void {
    this.#ask = ask;
  }

  /**
   * Whether a session that was just opened may be used. One with a server of which nothing is known waits, for half a
   * second at most, until the fence was asked: after a failover what is opened first is used as soon as that server is
   * trusted. Where another one is, this one is doubted, so that nobody asks about it again.
   */
  async settles(server: string): Promise<boolean> {
    const isUnknown = !this.counts(server) && !this.isDoubted(server);
    if (isUnknown && this.#ask !== null) {
      const isTold = await this.#isToldOf(server, this.#ask);
      if (isTold && !this.counts(server)) this.#addDoubted(server);
    }
    return this.counts(server);
  }

  async #isToldOf(server: string, ask: () => void): Promise<boolean> {
    let told = () => {};
    const isTold = new Promise<boolean>((resolve) => {
      told = () => resolve(true);
    });
    this.#waiting.set(told, { server, looks: this.#looks });
    ask();
    try {
      return await withinMs(SETTLE_MS, isTold, () => false);
    } finally {
      this.#waiting.delete(told);
    }
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
