/** A day into the store, and out of it again: nothing may rest on what was packed before this has read it back and compared it. */
import { createHash, type Hash } from 'node:crypto';
import type { ObjectStore } from '@svc/service';
import type { ColdDay } from './manifest.ts';
import { type DayRows, type ProvenTables, packTables, proveReceipts } from './pack-tables.ts';
import { ColdDayReader } from './read-day.ts';
import { TABLES, type TableName } from './schema.ts';
import type { Sizes } from './write-table.ts';

/** What the Receipts lead to as they were read back from the store, and what they were read from. */
export interface PackedDay extends ProvenTables {
  readonly tables: ColdDay['tables'];
  /** Where rows that were read back begin not to be those that were stored: a table and a receipt id. Null: all are the same. */
  readonly difference: string | null;
}

/**
 * The same rows are the same objects, so to be cut off anywhere and begin again leaves nothing twice. Rejects with
 * `ObjectStoreError` where the store fails or does not give back what it was given.
 */
export const packDay = async (
  store: ObjectStore,
  day: string,
  rows: DayRows,
  options: { readonly signal?: AbortSignal; readonly sizes?: Sizes } = {},
): Promise<PackedDay> => {
  const { signal } = options;
  const [stored, found] = [newPrints(), newPrints()];
  const tables = await packTables(
    store,
    day,
    {
      receipts: () => printed(stored.receipts, rows.receipts()),
      attestations: () => printed(stored.attestations, rows.attestations()),
      consumptionEvents: () => printed(stored.consumption_events, rows.consumptionEvents()),
    },
    options,
  );
  const proven = await proveReceipts(store, tables, signal, (row) => found.receipts.add(row));
  const reader = new ColdDayReader(store, { tables });
  for (const table of ['attestations', 'consumption_events'] as const)
    for await (const rows of reader.rows(table, signal)) for (const row of rows) found[table].add(row);
  return { ...proven, tables, difference: differenceOf(stored, found) };
};

const newPrints = (): Readonly<Record<TableName, Print>> => ({
  receipts: new Print('receipts'),
  attestations: new Print('attestations'),
  consumption_events: new Print('consumption_events'),
});

async function* printed<Row extends PrintedRow>(
  print: Print,
  batches: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for await (const batch of batches) {
    for (const row of batch) print.add(row);
    yield batch;
  }
}

interface PrintedRow {
  readonly receipt_id: string;
}

/** Rows of a part: so many are told apart from others by one hash. */
const PART = 1_024;

/** What a sequence of rows comes to, part by part: two of the same rows are the same, whatever batches they came in. */
class Print {
  readonly #columns: readonly string[];
  readonly #parts: { readonly first: string; readonly hash: Hash }[] = [];
  #rows = 0;

  constructor(table: TableName) {
    const parts = new Set(['header', 'payload', 'signature']);
    this.#columns = Object.keys(TABLES[table]).filter((name) => !(table === 'receipts' && parts.has(name)));
  }

  add(row: PrintedRow): void {
    const values = row as unknown as Readonly<Record<string, unknown>>;
    if (this.#rows % PART === 0) this.#parts.push({ first: row.receipt_id, hash: createHash('sha256') });
    this.#rows += 1;
    const text = JSON.stringify(this.#columns.map((name) => plain(values[name])));
    this.#parts.at(-1)?.hash.update(`${text}\n`);
  }

  /** Once. */
  digests(): readonly { readonly first: string; readonly digest: string }[] {
    return this.#parts.map(({ first, hash }) => ({ first, digest: hash.digest('hex') }));
  }
}

/** Of one column a value is of one kind, so none stands for another. */
const plain = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

const differenceOf = (
  stored: Readonly<Record<TableName, Print>>,
  found: Readonly<Record<TableName, Print>>,
): string | null => {
  for (const table of Object.keys(stored) as TableName[]) {
    const [were, are] = [stored[table].digests(), found[table].digests()];
    const at = Array.from({ length: Math.max(were.length, are.length) }, (_, i) => i).find(
      (i) => were[i]?.digest !== are[i]?.digest,
    );
    if (at !== undefined) return `${table} from ${were[at]?.first ?? are[at]?.first} on`;
  }
  return null;
};
