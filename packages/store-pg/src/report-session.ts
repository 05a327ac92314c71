/**
 * What a report on a replica runs its statements on: a session that it has from its beginning, gives back while it
 * reads objects, and has anew for its next statement. So a slow store of objects holds no session.
 */
import type pg from 'pg';
import { type Database, query } from './database.ts';
import { toStoreError } from './errors.ts';
import type { Statement } from './statement.ts';

/** A session until `leave`; `over` rejects where it is taken away before. */
export interface Held {
  readonly client: pg.ClientBase;
  readonly over: Promise<void>;
  leave(): void;
}

export class ReportSession implements Database {
  readonly #take: () => Promise<Held>;
  #held: Promise<Held> | null;
  #running = 0;
  #isResting = false;
  #isOver = false;

  /** `take`: another one, which has whatever the one before had. */
  constructor(held: Held, take: () => Promise<Held>) {
    this.#take = take;
    this.#held = Promise.resolve(held);
  }

  async read<Row extends pg.QueryResultRow>(statement: Statement): Promise<Row[]> {
    // The session belongs to someone else by now.
    if (this.#isOver) throw new Error('the report is over');
    this.#isResting = false;
    this.#running += 1;
    try {
      this.#held ??= this.#take();
      const { client, over } = await this.#held;
      return await Promise.race([query<Row>(client, statement), over.then(() => [])]);
    } catch (error) {
      throw toStoreError(error, 'nothing');
    } finally {
      this.#running -= 1;
      if (this.#isResting) this.rest();
    }
  }

  write<Row extends pg.QueryResultRow>(statement: Statement): Promise<Row[]> {
    return this.read(statement);
  }

  rest(): void {
    this.#isResting = true;
    if (this.#running > 0) return;
    this.#held?.then(({ leave }) => leave()).catch(() => {});
    this.#held = null;
  }

  end(): void {
    this.#isOver = true;
    this.rest();
  }
}
