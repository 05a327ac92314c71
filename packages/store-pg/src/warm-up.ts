/**
 * Runs a new session's statements once, before a caller has it. What a session does for the first time takes the server
 * some twenty times as long as the second time: it reads the catalog, compiles functions and plans their statements. A
 * server that is short of time cannot finish this within the deadline of a decision. The deadline cuts it off, and the
 * next decision begins from the start again. So the session runs its statements with empty input and rolls them back.
 */
import { withinMs } from '@svc/service';
import type pg from 'pg';
import { DeadlineError, isServerAnswer } from './errors.ts';
import type { Statement } from './statement.ts';

/** As for opening a connection: after this time the server is taken for dead. */
const WARM_UP_MS = 3_000;

/** Short: where a table is locked, the session is still useful for work on all others. */
const LOCK_MS = 100;
/** Replaces the session's limits, which are for work with a waiting caller. */
const BEGIN = `
  begin;
  set local lock_timeout = ${LOCK_MS};
  set local statement_timeout = ${WARM_UP_MS};
  set local idle_in_transaction_session_timeout = ${2 * WARM_UP_MS}`;

/**
 * Rejects where the connection was lost. Errors of the server are ignored here; a caller's first statement reports
 * them.
 */
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
