/** What repositories run their statements on: a pool, or the connection of one open transaction. */
import { StoreError, type Tenant } from '@svc/service';
import type pg from 'pg';
import type { DeadlinePool, RunOptions } from './deadline-pool.ts';
import { DURABLE_IF_NOTHING_WRITTEN } from './durable.ts';
import { type AtStake, toStoreError } from './errors.ts';
import type { Statement } from './statement.ts';

export interface Database {
  /** Runs a statement that changes nothing. */
  read<Row extends pg.QueryResultRow>(statement: Statement): Promise<Row[]>;
  /** Runs a statement that may change something. */
  write<Row extends pg.QueryResultRow>(statement: Statement): Promise<Row[]>;
  /**
   * Returns the session that is held between statements, before the caller waits for something else. Present only where
   * such a session can be returned: in reports on a replica.
   */
  rest?(): void;
}

/** Each statement is its own transaction. */
export function pooledDatabase(
  reads: DeadlinePool,
  writes: DeadlinePool,
  tenant: Tenant | null = null,
): Database {
  return {
    read: (statement) => runOn(reads, statement, 'nothing', tenant),
    write: (statement) => runOn(writes, statement, 'stored', tenant),
  };
}

async function runOn<Row extends pg.QueryResultRow>(
  pool: DeadlinePool,
  statement: Statement,
  atStake: AtStake,
  tenant: Tenant | null,
): Promise<Row[]> {
  try {
    return await pool.run((client) => query<Row>(client, statement), { tenant });
  } catch (error) {
    throw toStoreError(error, atStake);
  }
}

export async function query<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  statement: Statement,
): Promise<Row[]> {
  const { rows } = await client.query<Row>({ ...statement, values: [...statement.values] });
  return rows;
}

/** Column `value` of the first row of a statement that changes nothing; undefined if there is no row. */
export async function readValue<Value>(
  database: Database,
  text: string,
  values: readonly unknown[] = [],
): Promise<Value | undefined> {
  return (await database.read<{ value: Value }>({ text, values }))[0]?.value;
}

/** Column `value` of the first row of a statement that may change something; undefined if there is no row. */
export async function writeValue<Value>(
  database: Database,
  text: string,
  values: readonly unknown[],
): Promise<Value | undefined> {
  return (await database.write<{ value: Value }>({ text, values }))[0]?.value;
}

/**
 * Runs `work` in one READ COMMITTED transaction. Until COMMIT is sent, a lost connection means that nothing is stored
 * (`unavailable`); from then on the outcome is `ambiguous`. COMMIT of a failed transaction answers ROLLBACK without an
 * error, so the command tag decides. `deadlineMs` replaces the pool's own limit. Work that is not done by then is never
 * committed, because the caller was told that nothing is stored.
 */
export async function runTransaction<T>(
  pool: DeadlinePool,
  work: (database: Database) => Promise<T>,
  options: RunOptions = {},
): Promise<T> {
  const { deadlineMs } = options;
  let commitSent = false;
  let isGivenUp = false;
  const transact = async (client: pg.ClientBase): Promise<Outcome<T>> => {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    if (deadlineMs !== undefined) await client.query(serverLimits(deadlineMs));
    const worked = await workInside(client, work);
    if (!worked.ok || isGivenUp) {
      // Without a clean rollback the connection is not idle, and the pool destroys it.
      await client.query('ROLLBACK').catch(() => {});
      return worked.ok ? { ok: false, error: givenUp() } : worked;
    }
    commitSent = true;
    return (await commit(client)) ? worked : { ok: false, error: rolledBack() };
  };
  const outcome = await pool.run(transact, options).catch((error: unknown) => {
    isGivenUp = true;
    throw toStoreError(error, commitSent ? 'stored' : 'nothing');
  });
  if (!outcome.ok) throw outcome.error;
  return outcome.value;
}

/**
 * False: the server rolled back. If the transaction answers what it found already stored, that must be as durable as
 * its own writes. So a transaction that wrote nothing commits a message.
 */
async function commit(client: pg.ClientBase): Promise<boolean> {
  const results = await client.query(`${DURABLE_IF_NOTHING_WRITTEN}; COMMIT`);
  return ([results].flat().at(-1) as pg.QueryResult).command === 'COMMIT';
}

/** The connection's own limits are those of the pool. `local` limits end with the transaction. */
const serverLimits = (deadlineMs: number): string =>
  `set local statement_timeout = ${deadlineMs}; set local idle_in_transaction_session_timeout = ${deadlineMs}`;

/** Reaches no caller: the caller has given up. */
const givenUp = () => new StoreError('unavailable', 'its caller has given up');

type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

const rolledBack = () => new StoreError('refused', 'a statement had failed: the server rolled back');

/** Runs `work` on the connection, which is its own until `work` settles. */
async function workInside<T>(
  client: pg.ClientBase,
  work: (database: Database) => Promise<T>,
): Promise<Outcome<T>> {
  let isOpen = true;
  const run = async <Row extends pg.QueryResultRow>(statement: Statement): Promise<Row[]> => {
    // The connection may belong to another caller by now.
    if (!isOpen) throw new Error('the transaction is over');
    try {
      return await query<Row>(client, statement);
    } catch (error) {
      throw toStoreError(error, 'nothing');
    }
  };
  try {
    return { ok: true, value: await work({ read: run, write: run }) };
  } catch (error) {
    return { ok: false, error };
  } finally {
    isOpen = false;
  }
}
