/**
 * What a session does for the first time takes the server some twenty times as long as the second time: it reads the
 * catalog, compiles functions and plans their statements. A server that is short of time does not get there within the
 * deadline of a decision, which cuts it off, so that the next one finds it where it was. So a session does its work
 * once before anybody has it, with nothing in it, and takes that back.
 */
import { withinMs } from '@svc/service';
import type pg from 'pg';
import { DeadlineError, isServerAnswer } from './errors.ts';
import type { Statement } from './statement.ts';

/** As for a connection to be opened: from then on the server counts as dead. */
const WARM_UP_MS = 3_000;

/** Where a table is locked the session is of use for all others: it is not waited for. */
const LOCK_MS = 100;
/** The limits of the session are for who waits for an answer. */
const BEGIN = `
  begin;
  set local lock_timeout = ${LOCK_MS};
  set local statement_timeout = ${WARM_UP_MS};
  set local idle_in_transaction_session_timeout = ${2 * WARM_UP_MS}`;

/** Rejects where the connection was lost. Errors of the server are ignored here; the first statement of a caller reports them. */
export async function warmUp(client: pg.ClientBase, statements: readonly Statement[]): Promise<void> {
  const work = async () => {
    await client.query(BEGIN);
    try {
      for (const { values, ...statement } of statements)
        await client.query({ ...statement, values: [...values] });
    } catch (error) {
      if (!isServerAnswer(error)) throw error;
    }
    await client.query('rollback');
  };
  await withinMs(WARM_UP_MS, work(), () => {
    throw new DeadlineError(`a new session was not ready within ${WARM_UP_MS} ms`);
  });
}
