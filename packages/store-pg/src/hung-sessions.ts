/**
 * Connections whose commit waits for a standby when their caller has given up. The server cannot take such a commit back and does not
 * notice that its client is gone, so a connection opened in place of each would leave one more session behind every second. They
 * keep their places in the pool until the server, asked by another connection, says that the wait is over; one whose server
 * does not know it, as after a network that was lost without a word, or is not waiting for a standby, goes at once. One that answers
 * before the server could be asked goes back into the pool: a server that is short of time is late with new sessions above all.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { clientConfig, openClient, type StoreClient } from './client.ts';

/** For connecting and asking; a server that does not answer is asked again. */
const ASK_MS = 1_000;
const PAUSE_MS = 500;

const waitingSql = `
  select pid from pg_stat_activity where pid = any ($1::int[]) and wait_event = 'SyncRep'`;

/** Called once. `isHealthy`: it has answered, and may be used again; otherwise nothing is lost by closing it. */
export type LetGo = (isHealthy: boolean) => void;

export class HungSessions {
  readonly #kept = new Map<StoreClient, LetGo>();
  #isAsking = false;

  constructor(private readonly databaseUrl: string) {}

  /** `isAnswered` tells, once everything that was asked of it has an answer, whether the connection is healthy. */
  keep(client: StoreClient, isAnswered: Promise<boolean>, letGo: LetGo): void {
    this.#kept.set(client, letGo);
    void isAnswered.then((isHealthy) => this.#letGo(client, isHealthy));
    if (!this.#isAsking) void this.#askOn();
  }

  letAllGo(): void {
    for (const client of this.#kept.keys()) this.#letGo(client, false);
  }

  async #askOn(): Promise<void> {
    this.#isAsking = true;
    while (this.#kept.size > 0) {
      await this.#ask().catch(() => {});
      if (this.#kept.size > 0) await delay(PAUSE_MS, undefined, { ref: false });
    }
    this.#isAsking = false;
  }

  async #ask(): Promise<void> {
    const asked = [...this.#kept.keys()];
    const session = await openClient({
      ...clientConfig(this.databaseUrl, ASK_MS),
      connectionTimeoutMillis: ASK_MS,
      query_timeout: ASK_MS,
    });
    try {
      const { rows } = await session.query<{ pid: number }>(waitingSql, [asked.map(({ pid }) => pid)]);
      const waiting = new Set(rows.map(({ pid }) => pid));
      for (const client of asked)
        if (client.server !== session.server || !waiting.has(client.pid)) this.#letGo(client, false);
    } finally {
      session.destroy();
    }
  }

  #letGo(client: StoreClient, isHealthy: boolean): void {
    const letGo = this.#kept.get(client);
    this.#kept.delete(client);
    letGo?.(isHealthy);
  }
}
