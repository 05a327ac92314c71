/**
 * A connection pool in which no wait is unbounded: not for a connection, not in the queue for one, not for an answer.
 * The queue is fair: connections go round the tenants that wait. The pool destroys a connection that broke, was left
 * inside a transaction, or missed a deadline and is still at work; it never hands it on. The next caller opens a new
 * one, so the pool works again as soon as the server does. Only a connection that waits for a standby keeps its place
 * until that wait is over (silent-connections.ts).
 */
import { type Entrant, FairLimiter, type PoolState, withinMs } from '@svc/service';
import type pg from 'pg';
import { Connections, type ConnectionsOptions } from './connections.ts';
import { DeadlineError, isServerAnswer, NoTurnError, ReplacedError } from './errors.ts';

/** `deadlineMs`: time for the work, once it has a connection. */
export interface DeadlinePoolOptions extends ConnectionsOptions {
  /** Time in the queue for a turn. `connectMs`: time for a connection after that, where none is open. */
  readonly waitMs: number;
  readonly connectMs: number;
  /** How many callers may queue. */
  readonly maxWaiting: number;
}

export interface RunOptions extends Partial<Entrant> {
  /** Replaces the pool's own limit. */
  readonly deadlineMs?: number | undefined;
}

export class DeadlinePool {
  readonly #options: DeadlinePoolOptions;
  readonly #connections: Connections;
  readonly #queue: FairLimiter;

  constructor(options: DeadlinePoolOptions) {
    this.#options = options;
    this.#connections = new Connections(options);
    this.#queue = new FairLimiter({
      atOnce: options.size,
      // One org cannot delay all others: one connection is left for them.
      atOncePerOrg: Math.max(1, options.size - 1),
      maxWaiting: options.maxWaiting,
      waitMs: options.waitMs,
      refuse: (why) => new NoTurnError(why),
    });
  }

  /** See `Connections.openKept`. */
  openKept(): Promise<void> {
    return this.#connections.openKept();
  }

  /**
   * Runs `work` on a connection of its own. Rejects with `StoreError` `unavailable` when no connection could be had
   * in time, with `DeadlineError` when `work` took too long, and otherwise as `work` does.
   */
  run<T>(
    work: (client: pg.ClientBase) => Promise<T>,
    { deadlineMs = this.#options.deadlineMs, tenant = null, exclusiveKey }: RunOptions = {},
  ): Promise<T> {
    return this.#queue.run({ tenant, exclusiveKey }, () => this.#runNow(work, deadlineMs));
  }

  async #runNow<T>(work: (client: pg.ClientBase) => Promise<T>, deadlineMs: number): Promise<T> {
    const client = await this.#connections.take(this.#options.connectMs);
    let release = () => this.#connections.release(client, true);
    let giveUp = () => this.#connections.release(client, false);
    try {
      const working = work(client);
      const worked = await withinMs(deadlineMs, working, () => {
        const isAnswered = working.then(() => true, isServerAnswer);
        giveUp = () => this.#connections.abandon(client, isAnswered);
        throw new DeadlineError(`no answer within ${deadlineMs} ms`);
      });
      // The process may have been suspended meanwhile: another server may be primary, or the commit may not be
      // replicated.
      if (!this.#connections.counts(client))
        throw new ReplacedError('the server was replaced, or its standby not waited for');
      return worked;
    } catch (error) {
      if (!isServerAnswer(error)) release = giveUp;
      throw error;
    } finally {
      release();
    }
  }

  /** The current state; `waiting`: callers in the queue. */
  get state(): Omit<PoolState, 'pool'> {
    return { ...this.#connections.state, waiting: this.#queue.waiting };
  }

  /** Waits for work in progress, then cuts what is left. When it resolves, no connection is open. */
  close(): Promise<void> {
    return this.#connections.close();
  }
}
