/** Writes the rows of one table of a day, by ascending receipt id, as Parquet files of limited size. */
import { createHash } from 'node:crypto';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ObjectEntry, RowGroupEntry } from './manifest.ts';
import {
  type Kind,
  LONG_TEXT,
  SCHEMA_VERSION,
  type Stored,
  TABLES,
  type TableName,
  UNSEARCHED,
} from './schema.ts';
import { compressors, loadZstd } from './zstd.ts';

/** A look-up reads one group, so at most this number of rows and characters. */
const ROWS_PER_GROUP = 2_048;
const CHARS_PER_GROUP = 8_388_608;
/** 8 to 20 MB of Receipts, which are in memory at once whatever the day's size; fewer if they are large. */
const ROWS_PER_OBJECT = 65_536;
const BYTES_PER_OBJECT = 33_554_432;
const PAGE_BYTES = 1_048_576;
/** Long enough that ids are not truncated in statistics. */
const STATISTICS_BYTES = 64;

export interface WrittenObject {
  readonly bytes: Uint8Array;
  /** The entry, without its name. */
  readonly entry: Omit<ObjectEntry, 'name'>;
}

/** Sizes depend only on the rows, so the same rows give the same objects. */
export interface Sizes {
  readonly rowsPerGroup: number;
  /** Length of the text and bytes of a group's rows; a group has at least one row. */
  readonly charsPerGroup?: number;
  /** An object ends with the group that reaches this number: groups are not divided between objects. */
  readonly rowsPerObject: number;
  /** An object ends with the group that reaches this size. */
  readonly bytesPerObject?: number;
}

/** Throws RangeError if rows are out of order. */
export async function* writeTable<T extends TableName>(
  table: T,
  day: string,
  batches: AsyncIterable<readonly Stored<T>[]>,
  sizes: Sizes = { rowsPerGroup: ROWS_PER_GROUP, rowsPerObject: ROWS_PER_OBJECT },
): AsyncGenerator<WrittenObject> {
  const { rowsPerGroup, charsPerGroup = CHARS_PER_GROUP } = sizes;
  const { rowsPerObject, bytesPerObject = BYTES_PER_OBJECT } = sizes;
  await loadZstd();
  let file: TableFile | null = null;
  let last = '';
  for await (const rows of groupsOf(batches, rowsPerGroup, charsPerGroup)) {
    file ??= new TableFile(table, day);
    last = assertAscending(table, rows, last);
    file.write(rows);
    if (file.rows < rowsPerObject && file.bytes < bytesPerObject) continue;
    yield file.finish();
    file = null;
  }
  if (file !== null) yield file.finish();
}

async function* groupsOf<Row extends object>(
  batches: AsyncIterable<readonly Row[]>,
  mostRows: number,
  mostChars: number,
): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  let chars = 0;
  for await (const batch of batches)
    for (const row of batch) {
      const more = charsOf(row);
      if (rows.length === mostRows || (rows.length > 0 && chars + more > mostChars)) {
        yield rows;
        rows = [];
        chars = 0;
      }
      rows.push(row);
      chars += more;
    }
  if (rows.length > 0) yield rows;
}

const charsOf = (row: object): number => {
  let chars = 0;
  for (const value of Object.values(row))
    if (typeof value === 'string' || value instanceof Uint8Array) chars += value.length;
  return chars;
};

type Rows = readonly { readonly receipt_id: string }[];

/**
 * Ids are ASCII, so the order of UTF-16 is that of bytes. A receipt id occurs once among Receipts, and can occur
 * several times in other tables.
 */
const assertAscending = (table: TableName, rows: Rows, before: string): string => {
  let last = before;
  for (const { receipt_id: id } of rows) {
    if (!(id > last || (id === last && table !== 'receipts')))
      throw new RangeError(`rows of ${table} out of order: ${id} behind ${last}`);
    last = id;
  }
  return last;
};

class TableFile {
  readonly #columns: readonly (readonly [name: string, kind: string])[];
  readonly #bytes = new ByteWriter(1 << 20);
  readonly #parquet: ParquetWriter;
  readonly #groups: RowGroupEntry[] = [];
  #end = 0;
  #last = '';
  rows = 0;

  constructor(table: TableName, day: string) {
    this.#columns = Object.entries(TABLES[table]);
    const schema = this.#columns.map(([name, kind]) => elementOf(name, kind));
    this.#parquet = new ParquetWriter({
      writer: this.#bytes,
      schema: [{ name: table, num_children: schema.length }, ...schema],
      ...{ codec: 'ZSTD', compressors, statisticsTruncateLength: STATISTICS_BYTES, createdBy: 'svc' },
      kvMetadata: [
        { key: 'svc.schema', value: `${table}/${SCHEMA_VERSION}` },
        { key: 'svc.day', value: day },
      ],
    });
  }

  /** Number of bytes written so far. */
  get bytes(): number {
    return this.#end;
  }

  /** Writes a row group. */
  write(rows: Rows): void {
    this.#parquet.write({
      columnData: this.#columns.map(([name]) => ({
        name,
        data: rows.map((row) => (row as Readonly<Record<string, unknown>>)[name]),
        statistics: !UNSEARCHED.has(name),
        columnIndex: !UNSEARCHED.has(name),
        // All values differ, so trying a dictionary would be useless.
        ...(name === LONG_TEXT ? { encoding: 'PLAIN' } : {}),
      })),
      ...{ rowGroupSize: rows.length, pageSize: PAGE_BYTES },
    });
    this.#groups.push({ first: rows[0]?.receipt_id ?? '', rows: rows.length, ...this.#piece() });
    this.#last = rows.at(-1)?.receipt_id ?? '';
    this.rows += rows.length;
  }

  finish(): WrittenObject {
    this.#parquet.finish();
    const tail = this.#piece();
    const bytes = this.#bytes.getBytes();
    return {
      bytes,
      entry: {
        ...{ bytes: bytes.length, rows: this.rows, groups: this.#groups, tail_sha256: tail.sha256 },
        ...{ first: this.#groups[0]?.first ?? '', last: this.#last },
      },
    };
  }

  /** The bytes written since the last piece. */
  #piece(): { readonly bytes: number; readonly sha256: string } {
    const piece = this.#bytes.getBytes().subarray(this.#end);
    this.#end += piece.length;
    return { bytes: piece.length, sha256: createHash('sha256').update(piece).digest('hex') };
  }
}

const ELEMENTS: Readonly<Record<Kind, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  bytes: { type: 'BYTE_ARRAY' },
  integer: { type: 'INT64' },
  small: { type: 'INT32' },
  instant: {
    ...{ type: 'INT64', converted_type: 'TIMESTAMP_MICROS' },
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  flag: { type: 'BOOLEAN' },
};

const elementOf = (name: string, kind: string): SchemaElement => ({
  name,
  ...ELEMENTS[kind.replace('?', '') as Kind],
  repetition_type: kind.endsWith('?') ? 'OPTIONAL' : 'REQUIRED',
});
