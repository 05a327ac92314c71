/**
 * The session on which a report on a replica runs its statements. The report returns it while it reads objects, and
 * takes another one for its next statement. So a slow object store holds no session.
 */
import type pg from 'pg';
import { type Database, query } from './database.ts';
import { toStoreError } from './errors.ts';
import type { Statement } from './statement.ts';

/** A session that is held until `leave`; `over` rejects where the session is lost before. */
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

  /** `take`: takes another session, which shows everything that the former one showed. */
  constructor(held: Held, take: () => Promise<Held>) {
    this.#take = take;
    this.#held = Promise.resolve(held);
  }

  async read<Row extends pg.QueryResultRow>(statement: Statement): Promise<Row[]> {
    // The session may belong to another caller by now.
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
