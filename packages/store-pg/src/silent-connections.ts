/**
 * Connections that do not answer, of all pools of a store. There are three reasons for it, which only the server can tell apart, asked
 * over a session that is opened for that:
 *
 * - A commit waits for a standby. The server cannot take it back and does not notice that its client is gone, so a connection
 *   opened in place of each would leave one more session behind every second. It keeps its place until the server says that the wait is over.
 * - The server is short of time, and late with new sessions above all. What answers before the question does is used again.
 * - The connection is lost without a word, and others may be with it, in every pool. So whenever one is silent all idle ones are asked
 *   too. Opening a session takes a server far longer than a word on one that is open: an idle connection that was asked
 *   before and is silent still is lost, however slow the server is. It is closed before somebody waits for it in vain.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { clientConfig, openClient, type StoreClient } from './client.ts';

/** For connecting and asking; a server that does not answer is asked again. */
const ASK_MS = 1_000;
const PAUSE_MS = 250;

const waitingSql = `
  select pid from pg_stat_activity where pid = any ($1::int[]) and wait_event = 'SyncRep'`;

/** Called once. `isHealthy`: it has answered, and may be used again; otherwise nothing is lost by closing it. */
export type LetGo = (isHealthy: boolean) => void;

export class SilentConnections {
  readonly #idle = new Set<StoreClient>();
  /** What became of idle ones that are being asked: true once they have answered, false when they are closed. */
  readonly #probes = new Map<StoreClient, Promise<boolean>>();
  readonly #kept = new Map<StoreClient, LetGo>();
  #isAsking = false;

  constructor(private readonly databaseUrl: string) {}

  addIdle(client: StoreClient): void {
    this.#idle.add(client);
  }

  removeIdle(client: StoreClient): void {
    this.#idle.delete(client);
  }

  /** To be used now. False: it is lost; where that is in question, it is known once the server has been asked. */
  async takeIdle(client: StoreClient): Promise<boolean> {
    this.removeIdle(client);
    return (await this.#probes.get(client)) ?? true;
  }

  /**
   * Its caller has given up. `isAnswered` tells, once everything that was asked of it has an answer, whether the connection
   * is healthy.
   */
  keep(client: StoreClient, isAnswered: Promise<boolean>, letGo: LetGo): void {
    this.#kept.set(client, letGo);
    void isAnswered.then((isHealthy) => this.#letGo(client, isHealthy));
    if (!this.#isAsking) void this.#askOn();
  }

  /** Of these, whatever they wait for. */
  letGo(clients: Iterable<StoreClient>): void {
    for (const client of clients) this.#letGo(client, false);
  }

  async #askOn(): Promise<void> {
    this.#isAsking = true;
    while (this.#kept.size + this.#probes.size > 0) {
      await this.#ask().catch(() => {});
      if (this.#kept.size + this.#probes.size > 0) await delay(PAUSE_MS, undefined, { ref: false });
    }
    this.#isAsking = false;
  }

  async #ask(): Promise<void> {
    for (const client of this.#idle) this.#probe(client);
    const probed = [...this.#probes.keys()];
    const session = await openClient({
      ...clientConfig(this.databaseUrl, ASK_MS),
      connectionTimeoutMillis: ASK_MS,
      query_timeout: ASK_MS,
    });
    try {
      const asked = [...this.#kept.keys()];
      const { rows } = await session.query<{ pid: number }>(waitingSql, [asked.map(({ pid }) => pid)]);
      const waiting = new Set(rows.map(({ pid }) => pid));
      for (const client of asked)
        if (client.server !== session.server || !waiting.has(client.pid)) this.#letGo(client, false);
      for (const client of probed)
        if (this.#probes.has(client)) client.destroy(new Error('a connection was lost without a word'));
    } finally {
      session.destroy();
    }
  }

  #probe(client: StoreClient): void {
    if (this.#probes.has(client)) return;
    const probe = client.query('').then(
      () => true,
      () => false,
    );
    this.#probes.set(client, probe);
    void probe.then(() => this.#probes.delete(client));
  }

  #letGo(client: StoreClient, isHealthy: boolean): void {
    const letGo = this.#kept.get(client);
    this.#kept.delete(client);
    letGo?.(isHealthy);
  }
}
