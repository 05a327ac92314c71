/**
 * Which server the sessions of a store may be with. After a failover there are two for a while: the promoted one, and
 * the replaced one, whose open sessions answer again when it wakes. The fence tells which server counts (protocol §10).
 * This class keeps that answer in memory. It is checked before each session is used, and once more before the session's
 * answer is used.
 */
import { withinMs } from '@svc/service';

export class Standing {
  #trusted: string | null = null;
  readonly #doubted = new Set<string>();
  /** Asks the keeper of the fence to look now. */
  #ask: (() => void) | null = null;
  /** Number of looks begun. */
  #looks = 0;
  /** Sessions that wait for the result of a look that begins after they were opened. */
  readonly #waiting = new Map<() => void, { readonly server: string; readonly looks: number }>();

  /** `trust` and `doubt` report the result of this look from now on. */
  beginLook(): void {
    this.#looks += 1;
  }

  /** Trusts this server from now on, and no other. */
  trust(server: string): void {
    this.#trusted = server;
    this.#doubted.delete(server);
    for (const [told, one] of this.#waiting) if (one.server === server || one.looks < this.#looks) told();
  }

  /** Does not trust this server until `trust` names it. */
  doubt(server: string): void {
    this.#addDoubted(server);
    // The doubt says nothing about other servers.
    for (const [told, one] of this.#waiting) if (one.server === server) told();
  }

  #addDoubted(server: string): void {
    this.#doubted.delete(server);
    this.#doubted.add(server);
    const [oldest] = this.#doubted;
    if (this.#doubted.size > MAX_DOUBTED && oldest !== undefined) this.#doubted.delete(oldest);
  }

  /** `ask` is called whenever a session is opened with a server that is neither trusted nor doubted. */
  onUnknown(ask: () => void): void {
    this.#ask = ask;
  }

  /**
   * Whether a session that was just opened may be used. A session with an unknown server waits, at most half a second,
   * until the fence was asked: after a failover the first sessions are used as soon as their server is trusted. If
   * another server is trusted instead, this one is doubted, so that no session asks about it again.
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

  /**
   * As long as no server was trusted, every server counts that is not doubted: in a deployment without a fence, or at a
   * start.
   */
  counts(server: string): boolean {
    return !this.isDoubted(server) && (this.#trusted === null || this.#trusted === server);
  }
}

const SETTLE_MS = 500;
/** Each entry is one server process; after a few failovers the oldest of them has ended. */
const MAX_DOUBTED = 16;
