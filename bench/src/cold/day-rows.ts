/** The rows of a day out of PostgreSQL, as they are packed. */
import { type DayRows, TABLES, type TableName } from '@svc/cold-ledger';
import type { Client } from 'pg';

const BATCH = 4_096;
/** What orders the rows of one Receipt. */
const SECOND = { receipts: null, attestations: 'ordinal', consumption_events: 'version' } as const;
/** Of the stored form; the table has the JWS in one piece. */
const PARTS = new Set(['header', 'payload', 'signature']);

/** `receipt_id` is text of one length: what follows the last digit is behind every id of the day. */
export const rowsOfDay = (session: Client, firstId: string, endId: string): DayRows => {
  const read = async function* (table: TableName): AsyncGenerator<never[]> {
    const columns = Object.entries(TABLES[table]).filter(([name]) => !PARTS.has(name));
    const list = columns.map(([name, kind]) =>
      kind.startsWith('instant') ? `(extract(epoch from ${name}) * 1000000)::bigint as ${name}` : name,
    );
    const second = SECOND[table];
    const key = second === null ? 'receipt_id' : `receipt_id, ${second}`;
    const integers = columns.flatMap(([name, kind]) => (/^(instant|integer)/.test(kind) ? [name] : []));
    let [id, ordinal] = [firstId, -1n];
    for (;;) {
      const { rows } = await session.query(
        `select ${list.join(', ')} from ${table}
         where receipt_id < $2 and ${second === null ? 'receipt_id > $1' : `(${key}) > ($1, $4::bigint)`}
         order by ${key} limit $3`,
        second === null ? [id, endId, BATCH] : [id, endId, BATCH, String(ordinal)],
      );
      if (rows.length === 0) return;
      for (const row of rows)
        for (const name of integers) if (row[name] !== null) row[name] = BigInt(row[name]);
      id = rows.at(-1).receipt_id;
      if (second !== null) ordinal = BigInt(rows.at(-1)[second]);
      yield rows as never[];
    }
  };
  return {
    receipts: () => read('receipts'),
    attestations: () => read('attestations'),
    consumptionEvents: () => read('consumption_events'),
  };
};
