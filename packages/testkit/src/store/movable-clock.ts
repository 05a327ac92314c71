/**
 * A database whose clock a test can move, for processes that take days: a schema of its own, first in the search path,
 * contains `clock_timestamp()`.
 */
import { runSql, withSession } from './session.ts';

/** The clock of this machine, which is also the database's: for jobs that only use a store. */
export const machineClock = { nowMs: () => Date.now(), resync: async () => {} };

export interface MovableClock {
  nowMs(): number;
  /** Moves the clock forward; back where negative. */
  pass(ms: number): Promise<void>;
}

/** Applies to connections opened from now on, and to our functions, which have a search_path of their own. */
export async function moveClockOf(databaseUrl: string): Promise<MovableClock> {
  const database = new URL(databaseUrl).pathname.slice(1);
  await withSession(databaseUrl, (session) =>
    session.query(`
      create schema clock;
      create table clock.ahead (ms bigint not null);
      insert into clock.ahead values (0);
      grant usage on schema clock to public;
      grant select on clock.ahead to public;
      create function clock.clock_timestamp() returns timestamptz language sql volatile
        as 'select pg_catalog.clock_timestamp() + ms * interval ''1 millisecond'' from clock.ahead';
      alter database ${database} set search_path = public, clock, pg_catalog;
      do $$ declare f regprocedure; begin
        for f in select oid from pg_proc where proconfig::text like '%search_path=public, pg_temp%' loop
          execute format('alter function %s set search_path = public, clock, pg_catalog', f);
        end loop;
      end $$`),
  );
  let aheadMs = 0;
  return {
    nowMs: () => Date.now() + aheadMs,
    async pass(ms) {
      aheadMs += ms;
      await runSql(databaseUrl, 'update clock.ahead set ms = $1', [aheadMs]);
    },
  };
}
