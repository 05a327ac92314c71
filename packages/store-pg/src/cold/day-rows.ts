/** Reads the rows of a day from PostgreSQL for packing. */
import { COLUMNS_AS_READ, type DayRows, ROW_ORDER, type TableName } from '@svc/cold-ledger';
import type { Day } from '@svc/service';
import type { ClientBase } from 'pg';
import { clientConfig, openClient } from '../client.ts';
import { toStoreError } from '../errors.ts';
import { idsOfDay, tableOfDay } from '../receipt-ids.ts';

/** Rows read at a time: some 10 MB with the largest rows that the service stores. */
const BATCH = 512;
/**
 * Limit of a statement, including connecting. `BETWEEN_MS`: the longest wait for the object store between two
 * statements.
 */
const STATEMENT_MS = 30_000;
const BETWEEN_MS = 600_000;

/**
 * Runs `work` on the rows of a day, in one snapshot, on a connection of its own. The Receipts are those in the ledger,
 * or those kept beside it. Rejects with `StoreError` where the database fails, otherwise as `work` does.
 */
export const readDayRows = async <T>(
  databaseUrl: string,
  day: Day,
  work: (rows: DayRows) => Promise<T>,
  from: 'ledger' | 'kept' = 'ledger',
): Promise<T> => {
  const client = await openClient({
    ...clientConfig(databaseUrl, STATEMENT_MS, { idle_in_transaction_session_timeout: `${BETWEEN_MS}` }),
    // Values arrive as text: an amount may exceed the safe integers.
    types: undefined,
    connectionTimeoutMillis: STATEMENT_MS,
    query_timeout: STATEMENT_MS,
  }).catch((error: unknown) => {
    throw toStoreError(error, 'nothing');
  });
  try {
    await ask(client, 'begin isolation level repeatable read read only');
    const done = await work(rowsOf(client, day, from === 'kept' ? await findKept(client, day) : 'receipts'));
    // Without a commit the session would hold its locks until the server notices that the client is gone. That may take
    // long on a busy machine, and the day is to leave the ledger next.
    await ask(client, 'commit');
    return done;
  } finally {
    client.destroy();
  }
};

type Row = Record<string, unknown>;

const ask = async (session: ClientBase, text: string, values: unknown[] = []): Promise<Row[]> => {
  try {
    return (await session.query<Row>(text, values)).rows;
  } catch (error) {
    throw toStoreError(error, 'nothing');
  }
};

/** Null: nothing is kept. */
const findKept = async (session: ClientBase, day: Day): Promise<string | null> => {
  const name = `detached_${tableOfDay(day)}`;
  const [found] = await ask(session, 'select to_regclass($1) is not null as "isThere"', [name]);
  return found?.isThere === true ? name : null;
};

/** Reads from `receipts` or a table like it; null: there is none. */
const rowsOf = (session: ClientBase, day: Day, receipts: string | null): DayRows => {
  const [firstId, endId] = idsOfDay(day);
  const read = async function* (table: TableName, stored: string | null = table): AsyncGenerator<never[]> {
    if (stored === null) return;
    const columns = COLUMNS_AS_READ[table];
    const list = columns.map(([name, kind]) =>
      kind.startsWith('instant') ? `(extract(epoch from ${name}) * 1000000)::bigint as ${name}` : name,
    );
    const second = ROW_ORDER[table];
    const key = second === null ? 'receipt_id' : `receipt_id, ${second}`;
    const integers = columns.flatMap(([name, kind]) => (/^(instant|integer)/.test(kind) ? [name] : []));
    const text = `select ${list.join(', ')} from ${stored}
         where receipt_id >= $1 and receipt_id < $2 and ${second === null ? 'receipt_id > $4' : `(${key}) > ($4, $5::bigint)`}
         order by ${key} limit $3`;
    const readBehind = (id: string, ordinal: string) =>
      ask(session, text, [firstId, endId, BATCH, id, ...(second === null ? [] : [ordinal])]);
    let next = readBehind('', '-1');
    for (;;) {
      const rows = await next;
      const last = rows.at(-1);
      if (last === undefined) return;
      // The database reads the next rows while the caller works on these.
      next = readBehind(String(last.receipt_id), second === null ? '' : String(last[second]));
      // Awaited later: an earlier rejection must not count as unhandled.
      next.catch(() => {});
      for (const row of rows)
        for (const name of integers) if (row[name] !== null) row[name] = BigInt(String(row[name]));
      yield rows as never[];
    }
  };
  return {
    receipts: () => read('receipts', receipts),
    attestations: () => read('attestations'),
    consumptionEvents: () => read('consumption_events'),
  };
};
