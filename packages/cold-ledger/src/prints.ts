/** Compares two sequences of rows in each column without holding either of them in memory. */
import { createHash, type Hash } from 'node:crypto';
import { COLUMNS_AS_READ, type ReceiptRow, type TableName } from './schema.ts';

export type Prints = Readonly<Record<TableName, Print>>;

/** Digests by table: for each part the receipt id of its first row, and the SHA-256 of its rows. */
export type Digests = Readonly<
  Record<TableName, readonly { readonly first: string; readonly digest: string }[]>
>;

export const newPrints = (): Prints => ({
  receipts: new Print('receipts'),
  attestations: new Print('attestations'),
  consumption_events: new Print('consumption_events'),
});

export interface PrintedRow {
  readonly receipt_id: string;
}

/** Number of rows under one hash. */
const PART = 1_024;

/** The digests of a sequence of rows. Equal sequences have equal digests, however they were divided into batches. */
export class Print {
  readonly #columns: readonly string[];
  readonly #hasJws: boolean;
  readonly #parts: { readonly first: string; readonly digest: string }[] = [];
  #part: { readonly first: string; readonly hash: Hash } | null = null;
  #rows = 0;

  constructor(table: TableName) {
    this.#columns = COLUMNS_AS_READ[table].flatMap(([name]) => (name === 'jws' ? [] : [name]));
    this.#hasJws = table === 'receipts';
  }

  add(row: PrintedRow): void {
    const values = row as unknown as Readonly<Record<string, unknown>>;
    if (this.#rows % PART === 0) this.#endPart();
    this.#rows += 1;
    this.#part ??= { first: row.receipt_id, hash: createHash('sha256') };
    const text = JSON.stringify(this.#columns.map((name) => plain(values[name])));
    if (!this.#hasJws) this.#part.hash.update(`${text}\n`);
    // Added without JSON, since writing it as JSON took longer than hashing it. The length before it marks its end.
    else this.#part.hash.update(`${text} ${String(values.jws).length}\n`).update(String(values.jws));
  }

  /** A hash in progress lies outside the heap, so there is only one at a time, whatever the day's size. */
  #endPart(): void {
    if (this.#part !== null)
      this.#parts.push({ first: this.#part.first, digest: this.#part.hash.digest('hex') });
    this.#part = null;
  }

  digests(): Digests[TableName] {
    this.#endPart();
    return this.#parts;
  }
}

/**
 * The value in a form that JSON can represent. All values of a column have one type, so none is confused with another.
 */
const plain = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

export const digestsOf = ({ receipts, attestations, consumption_events }: Prints): Digests => ({
  receipts: receipts.digests(),
  attestations: attestations.digests(),
  consumption_events: consumption_events.digests(),
});

/** Digests of Receipts, each in the form that `formOf` gives it. */
export const digestReceipts = async (
  batches: AsyncIterable<readonly ReceiptRow[]>,
  formOf: (row: ReceiptRow) => ReceiptRow = (row) => row,
): Promise<Digests> => {
  const prints = newPrints();
  for await (const rows of batches) for (const row of rows) prints.receipts.add(formOf(row));
  return digestsOf(prints);
};

/** The table and the receipt id of the first part that differs; null: the rows are the same. */
export const differenceOf = (stored: Digests, found: Digests): string | null => {
  for (const table of Object.keys(stored) as TableName[]) {
    const [were, are] = [stored[table], found[table]];
    const at = Array.from({ length: Math.max(were.length, are.length) }, (_, i) => i).find(
      (i) => were[i]?.digest !== are[i]?.digest,
    );
    if (at !== undefined) return `${table} from ${were[at]?.first ?? are[at]?.first} on`;
  }
  return null;
};
