/** The server's clock, and the deployment's mark beside it (migrations/0001-foundation/20-clock.sql). */
import { type ClockStore, StoreError } from '@svc/service';
import type { Database } from './database.ts';

const readSql = `
  select extract(epoch from clock_timestamp())::float8 * 1000 as "databaseMs", svc_ms(marked_at) as "markMs", resets
  from clock_mark`;

const advanceSql = `
  update clock_mark set marked_at = greatest(marked_at, svc_instant($1)) where is_only_row`;

export function clockStore(database: Database): ClockStore {
  return {
    async read() {
      const [row] = await database.read<{ databaseMs: number; markMs: number | null; resets: number }>({
        text: readSql,
        values: [],
      });
      if (row === undefined) throw new StoreError('refused', 'the clock was read without a row');
      const { databaseMs, markMs, resets } = row;
      return { databaseMs, mark: markMs === null ? null : { atMs: markMs, resets } };
    },
    async advanceMark(ms) {
      await database.write({ text: advanceSql, values: [ms] });
    },
  };
}
