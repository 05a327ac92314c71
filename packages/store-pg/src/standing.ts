/**
 * Which server the sessions of a store may be with. After a failover there are two for a while: the one that was promoted, and
 * the one that was replaced, whose open sessions answer again when it wakes. The fence tells which one counts (protocol §10); here that is
 * asked of memory, for each session before it is used and once more before what it answered is.
 */
export class Standing {
  #trusted: string | null = null;
  readonly #doubted = new Set<string>();

  /** From now on this one, and no other. */
  trust(server: string): void {
    this.#trusted = server;
    this.#doubted.delete(server);
  }

  /** Not this one, until it is trusted again. */
  doubt(server: string): void {
    this.#doubted.add(server);
    const [oldest] = this.#doubted;
    if (this.#doubted.size > MAX_DOUBTED && oldest !== undefined) this.#doubted.delete(oldest);
  }

  isDoubted(server: string): boolean {
    return this.#doubted.has(server);
  }

  /** Every server that is not doubted, as long as none was trusted: a deployment without a fence, or one that starts. */
  counts(server: string): boolean {
    return !this.isDoubted(server) && (this.#trusted === null || this.#trusted === server);
  }
}

/** Each is a server's process: a few failovers back, none of them lives. */
const MAX_DOUBTED = 16;
