/**
 * A connection pool in which nothing waits for ever: not for a connection, not in line for one, not for an
 * answer. The line is fair: connections go round the tenants that wait. A connection that missed a deadline, broke, or was left inside a transaction is destroyed, never
 * handed on; the next caller opens a new one, so the pool is well again as soon as the server is.
 */
import { once } from 'node:events';
import { type Entrant, FairQueue, StoreError, withinMs } from '@svc/service';
import pg from 'pg';
import { clientConfig, StoreClient } from './client.ts';
import { DeadlineError, isServerAnswer, toUnavailable } from './errors.ts';

export interface DeadlinePoolOptions {
  readonly databaseUrl: string;
  readonly size: number;
  /** Time in line for a connection, and then to open one where none is open. */
  readonly waitMs: number;
  readonly connectMs: number;
  /** Time for the work, once it has a connection. */
  readonly deadlineMs: number;
  /** How many callers may stand in line. */
  readonly maxWaiting: number;
  /** True: connections are kept open once they are, so that work seldom waits for one to be opened. */
  readonly isKept?: boolean;
  /** Settings of the server for these connections. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly onError: (error: Error) => void;
}

export interface RunOptions extends Partial<Entrant> {
  /** Instead of the pool's own. */
  readonly deadlineMs?: number | undefined;
}

const IDLE_MS = 60_000;
const CLOSE_MS = 2_000;

export class DeadlinePool {
  readonly #pool: pg.Pool;
  readonly #options: DeadlinePoolOptions;
  readonly #queue: FairQueue;
  readonly #clients = new Set<StoreClient>();
  #isClosing = false;

  constructor(options: DeadlinePoolOptions) {
    this.#options = options;
    this.#queue = new FairQueue({
      atOnce: options.size,
      // One org alone can hold up nobody: a connection is left.
      atOncePerOrg: Math.max(1, options.size - 1),
      maxWaiting: options.maxWaiting,
      waitMs: options.waitMs,
      refuse: (why) => new StoreError('unavailable', `no connection was free: ${why}`),
    });
    this.#pool = new pg.Pool({
      ...clientConfig(options.databaseUrl, options.deadlineMs, options.settings),
      max: options.size,
      connectionTimeoutMillis: options.connectMs,
      idleTimeoutMillis: IDLE_MS,
      min: options.isKept === true ? options.size : 0,
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

  /** Opens all connections, one after another. Rejects when one is not had; the next to need it opens it then. */
  async open(): Promise<void> {
    const clients: pg.PoolClient[] = [];
    try {
      while (clients.length < this.#options.size) clients.push(await this.#connect());
    } finally {
      for (const client of clients) release(client, true);
    }
  }

  /**
   * Runs `work` on a connection of its own. Rejects with `StoreError` `unavailable` when none was had in time,
   * with `DeadlineError` when `work` took too long, and otherwise as `work` does.
   */
  run<T>(
    work: (client: pg.ClientBase) => Promise<T>,
    { deadlineMs = this.#options.deadlineMs, tenant = null, turn }: RunOptions = {},
  ): Promise<T> {
    return this.#queue.run({ tenant, turn }, () => this.#runNow(work, deadlineMs));
  }

  async #runNow<T>(work: (client: pg.ClientBase) => Promise<T>, deadlineMs: number): Promise<T> {
    const client = await this.#connect();
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

  async #connect(): Promise<pg.PoolClient> {
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
