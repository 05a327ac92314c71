/**
 * A connection pool in which nothing waits for ever: not for a connection, not in line for one, not for an
 * answer. A connection that missed a deadline, broke, or was left inside a transaction is destroyed, never
 * handed on; the next caller opens a new one, so the pool is well again as soon as the server is.
 */
import { once } from 'node:events';
import { StoreError, withinMs } from '@svc/service';
import pg from 'pg';
import { clientConfig, StoreClient } from './client.ts';
import { DeadlineError, isServerAnswer, toUnavailable } from './errors.ts';

export interface DeadlinePoolOptions {
  readonly databaseUrl: string;
  readonly size: number;
  /** Time to get a connection, waiting in line included. */
  readonly connectMs: number;
  /** Time for the work, once it has a connection. */
  readonly deadlineMs: number;
  /** How many callers may stand in line. */
  readonly maxWaiting: number;
  /** Settings of the server for these connections. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly onError: (error: Error) => void;
}

const IDLE_MS = 60_000;
const CLOSE_MS = 2_000;

export class DeadlinePool {
  readonly #pool: pg.Pool;
  readonly #options: DeadlinePoolOptions;
  readonly #clients = new Set<StoreClient>();
  #isClosing = false;

  constructor(options: DeadlinePoolOptions) {
    this.#options = options;
    this.#pool = new pg.Pool({
      ...clientConfig(options.databaseUrl, options.deadlineMs, options.settings),
      max: options.size,
      connectionTimeoutMillis: options.connectMs,
      idleTimeoutMillis: IDLE_MS,
      Client: StoreClient,
    });
    this.#pool.on('error', (error) => {
      if (!this.#isClosing) options.onError(error);
    });
    this.#pool.on('connect', (client) => {
      // While a client is checked out the pool does not listen: an 'error' event would end the process.
      client.on('error', () => {});
      if (client instanceof StoreClient) this.#clients.add(client);
    });
    this.#pool.on('remove', (client) => {
      if (client instanceof StoreClient) this.#clients.delete(client);
    });
  }

  /**
   * Runs `work` on a connection of its own. Rejects with `StoreError` `unavailable` when none was had in time,
   * with `DeadlineError` when `work` took too long, and otherwise as `work` does.
   */
  async run<T>(
    work: (client: pg.ClientBase) => Promise<T>,
    deadlineMs = this.#options.deadlineMs,
  ): Promise<T> {
    const client = await this.#acquire();
    let isHealthy = true;
    try {
      return await withinMs(deadlineMs, work(client), () => {
        throw new DeadlineError(`no answer within ${deadlineMs} ms`);
      });
    } catch (error) {
      isHealthy = isServerAnswer(error);
      throw error;
    } finally {
      release(client, isHealthy);
    }
  }

  async #acquire(): Promise<pg.PoolClient> {
    if (this.#pool.waitingCount >= this.#options.maxWaiting) {
      throw new StoreError('unavailable', 'too many callers wait for a connection');
    }
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw toUnavailable(error);
    }
  }

  /** Waits for work in progress, then cuts what is left. No connection is open any more when it resolves. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const cut = setTimeout(() => {
      for (const client of this.#clients) client.destroy();
    }, CLOSE_MS);
    try {
      await this.#pool.end();
      // The pool lets go of its clients before they have said goodbye.
      while (this.#clients.size > 0) await once(this.#pool, 'remove');
    } finally {
      clearTimeout(cut);
    }
  }
}

function release(client: pg.PoolClient, isHealthy: boolean): void {
  const isReusable = isHealthy && client.getTransactionStatus() === 'I';
  client.release(!isReusable);
  if (!isReusable && client instanceof StoreClient) client.destroy();
}
