/**
 * Rows of one row group, by their columns. What is asked for and what is found are plain data and the work has no other
 * input, so a process that answers others has it done on a thread of its own.
 */
import { createHash } from 'node:crypto';
import type { ExportedForm } from '@svc/service';
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadata,
  parquetRead,
  type SchemaElement,
} from 'hyparquet';
import { joinReceipt, latin1Text, type Parts } from './receipt-jws.ts';
import { JWS_PARTS, LONG_TEXT } from './schema.ts';
import { decompress, loadZstd } from './zstd.ts';

/** A row group as it was fetched, with what describes it. Whoever fetched them has compared the hashes of both. */
export interface FetchedGroup {
  /** Name of the object. */
  readonly name: string;
  readonly byteLength: number;
  /** The end of the object: its metadata and indexes. `tailSha256`: what it is remembered by. */
  readonly tail: Uint8Array;
  readonly tailSha256: string;
  /** Where the group begins in the object, in bytes and in rows. */
  readonly offset: number;
  readonly firstRow: number;
  readonly rows: number;
  readonly group: Uint8Array;
}

/** The value of a column is one of these. */
export interface Condition {
  readonly column: string;
  readonly oneOf: readonly (string | null)[];
}

export interface Wanted {
  /** `receipt_id` always comes with them. */
  readonly columns: readonly string[];
  /** What stands in the column `jws`: what is stored there, which is null where its parts are stored, or one of these forms. */
  readonly jws: 'stored' | ReceiptForm;
  /** What is wanted of each Receipt beside the columns. */
  readonly texts: ExportedForm | null;
  /** All of them hold. */
  readonly where: readonly Condition[];
  /** Bounds of the ids: from the first (inclusive), after the second, and before the third; '' is no bound for the first two. */
  readonly from: string;
  readonly after: string;
  readonly before: string;
  /** How many of the matching rows are read at most: the highest ids where they are descending, else the lowest. Null: all. */
  readonly most: number | null;
  readonly isDescending: boolean;
}

/** Form of a Receipt: its JWS, or the SHA-256 of that in hex. */
export type ReceiptForm = 'whole' | 'hashed';

/**
 * Texts in UTF-8, one behind the other, in one piece of memory: as values of their own they are copied once more on
 * their way to another thread.
 */
export interface Texts {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each ends. */
  readonly ends: readonly number[];
}

export interface ColumnBatch {
  readonly count: number;
  /** Values of each column that is wanted, for the rows that were found, by ascending ids. */
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
  /** Texts of the Receipts, where they are wanted as such. */
  readonly texts: Texts | null;
  /** The highest id of the group, where all its ids were read. */
  readonly last: string | null;
}

export type ReadGroup = (group: FetchedGroup, wanted: Wanted) => Promise<ColumnBatch>;

/** What another thread has found: to make columns of it takes the time of one's own, so that is done when it is asked for. */
export interface SealedColumns {
  open(): ColumnBatch;
}
export type ReadElsewhere = (group: FetchedGroup, wanted: Wanted) => Promise<SealedColumns>;

/** Every receipt id is lower. */
export const BEHIND_ALL = 'drc_~';

/** Bytes of metadata and indexes that an object may have; in memory they take some twenty times as much. */
const MAX_TAIL_BYTES = 4_194_304;

/** They are read where they were decompressed; everything else has been copied. */
const BYTES: ReadonlySet<string> = new Set(['payload', 'signature']);

const PARTS = [...JWS_PARTS, 'jws'];

/** What objects say of themselves is remembered, as far as there is room. */
export const groupReader = (maxTailBytes = MAX_TAIL_BYTES): ReadGroup => {
  const known = new Tails(maxTailBytes);
  return async (fetched, wanted) => {
    await loadZstd();
    const group = new OpenGroup(fetched, known.find(fetched));
    const found = await pick(group, wanted);
    if (!wanted.columns.some((name) => BYTES.has(name))) group.free();
    return found;
  };
};

/** First the columns of which something is required, then the ids of what is left, and of the rows that are wanted the rest. */
const pick = async (group: OpenGroup, wanted: Wanted): Promise<ColumnBatch> => {
  const { where, from, after, before, most, isDescending } = wanted;
  const matching = where.length === 0 ? null : await match(group, where);
  const reach: Span | null = matching === null ? [0, group.rows] : spanOf(matching);
  if (reach === null) return NOTHING;
  const [firstPlace] = reach;
  const { receipt_id: ids = [] } = await group.read(['receipt_id'], reach);
  const last = reach[1] === group.rows ? String(ids.at(-1)) : null;
  const isWithin = (place: number): boolean => {
    const id = String(ids[place - firstPlace]);
    return id >= from && id > after && id < before;
  };
  const within = (matching ?? Array.from(ids.keys())).filter(isWithin);
  const places = most === null ? within : isDescending ? within.slice(-most) : within.slice(0, most);
  const span = spanOf(places);
  if (span === null) return { ...NOTHING, last };
  const form = wanted.columns.includes('jws') ? wanted.jws : 'stored';
  const others = wanted.columns.filter(
    (name) => name !== 'receipt_id' && !(form !== 'stored' && name === 'jws'),
  );
  const read = await group.read(
    [...others, ...(form === 'stored' && wanted.texts === null ? [] : PARTS)],
    span,
  );
  const [start] = span;
  const columns: Record<string, unknown[]> = { receipt_id: places.map((place) => ids[place - firstPlace]) };
  for (const name of others) columns[name] = places.map((place) => read[name]?.[place - start]);
  const partsOf = (place: number) => {
    const [header, payload, signature, jws] = PARTS.map((name) => read[name]?.[place - start]);
    return { header, payload, signature, jws } as Parts;
  };
  if (form === 'whole') columns.jws = places.map((place) => joinReceipt(partsOf(place)));
  if (form === 'hashed')
    columns.jws = places.map((place) =>
      createHash('sha256')
        .update(joinReceipt(partsOf(place)))
        .digest('hex'),
    );
  const texts =
    wanted.texts === null ? null : textsOf(columns.receipt_id ?? [], places.map(partsOf), wanted.texts);
  return { count: places.length, columns, texts, last };
};

const textsOf = (ids: readonly unknown[], receipts: readonly Parts[], form: ExportedForm): Texts => {
  const texts = receipts.map((parts, i) => {
    const text = latin1Text(parts, form);
    if (text === null) throw new Error(`what is stored as ${ids[i]} is no Receipt`);
    return text;
  });
  let end = 0;
  const ends = texts.map(({ length }) => (end += length));
  const bytes = Buffer.from(new ArrayBuffer(end));
  for (const [i, text] of texts.entries()) bytes.write(text, ends[i - 1] ?? 0, 'latin1');
  return { bytes, ends };
};

const NOTHING: ColumnBatch = { count: 0, columns: {}, texts: null, last: null };

/** The first place, and that behind the last; null: there is none. */
const spanOf = (places: readonly number[]): Span | null => {
  const [first, last] = [places[0], places.at(-1)];
  return first === undefined || last === undefined ? null : [first, last + 1];
};

/** Places in the group, ascending. */
const match = async (group: OpenGroup, where: readonly Condition[]): Promise<number[]> => {
  const names = [...new Set(where.map(({ column }) => column))];
  const read = await group.read(names, [0, group.rows]);
  const tests = where.map(({ column, oneOf }) => ({
    values: read[column] ?? [],
    allowed: new Set<unknown>(oneOf),
  }));
  const found: number[] = [];
  for (let place = 0; place < group.rows; place++)
    if (tests.every(({ values, allowed }) => allowed.has(values[place] ?? null))) found.push(place);
  return found;
};

/** A range of rows in the group: the first, and the one behind the last. */
type Span = readonly [number, number];
type Columns = Readonly<Record<string, readonly unknown[]>>;

class OpenGroup {
  readonly #whole = new Map<string, readonly unknown[]>();
  readonly #fetched: FetchedGroup;
  readonly #metadata: FileMetaData;
  readonly #file: AsyncBuffer;
  readonly #memory: ArrayBufferLike[] = [];

  constructor(fetched: FetchedGroup, { bytes, metadata }: Tail) {
    const { name, byteLength, offset, group } = fetched;
    const tailAt = byteLength - bytes.byteLength;
    const slice = (start: number, end = byteLength): ArrayBuffer => {
      if (start >= tailAt) return bytes.slice(start - tailAt, end - tailAt);
      if (start < offset || end > offset + group.length)
        throw new RangeError(`${name}: its metadata leads out of the group`);
      return this.#remember(bufferOf(group.subarray(start - offset, end - offset)));
    };
    this.#fetched = fetched;
    this.#metadata = metadata;
    this.#file = { byteLength, slice };
  }

  get rows(): number {
    return this.#fetched.rows;
  }

  /**
   * Gives the memory of pages back, where Node can, before it is collected: some megabytes for each group, which the
   * collector would otherwise run for every few of them. Nothing that was read may point there.
   */
  free(): void {
    for (const buffer of this.#memory) (buffer as Movable).transfer?.(0);
  }

  #remember<Memory extends ArrayBufferLike>(memory: Memory): Memory {
    if ('transfer' in memory && memory.byteLength >= WORTH_FREEING_BYTES) this.#memory.push(memory);
    return memory;
  }

  /** Values of the rows from one place to before another. A column that was read whole is not decoded again. */
  async read(names: readonly string[], [from, to]: Span): Promise<Columns> {
    const missing = names.filter((name) => !this.#whole.has(name));
    const decoded = missing.length === 0 ? {} : await this.#decode(missing, [from, to]);
    if (to - from === this.rows)
      for (const [name, values] of Object.entries(decoded)) this.#whole.set(name, values);
    return Object.fromEntries(
      names.map((name) => [name, decoded[name] ?? this.#whole.get(name)?.slice(from, to) ?? []]),
    );
  }

  readonly #decompressors = {
    ZSTD: (bytes: Uint8Array, length: number): Uint8Array => {
      const page = decompress(bytes, length);
      this.#remember(page.buffer);
      return page;
    },
  };

  async #decode(names: readonly string[], [from, to]: Span): Promise<Columns> {
    const { firstRow } = this.#fetched;
    const columns = Object.fromEntries(names.map((name) => [name, new Array<unknown>(to - from)]));
    await parquetRead({
      ...{ file: this.#file, metadata: this.#metadata, parsers, compressors: this.#decompressors },
      ...{ utf8: false, useOffsetIndex: true, columns: [...names] },
      ...{ rowStart: firstRow + from, rowEnd: firstRow + to },
      // The reader gives whole pages.
      onChunk({ columnName, columnData, rowStart }) {
        const values = columns[columnName] ?? [];
        const before = firstRow + from - rowStart;
        const [first, end] = [Math.max(before, 0), Math.min(before + to - from, columnData.length)];
        for (let i = first; i < end; i++) values[i - before] = columnData[i];
      },
    });
    return columns;
  }
}

/** Smaller ones may lie in memory that others share. */
const WORTH_FREEING_BYTES = 131_072;
/** Node 22 and later. */
interface Movable {
  transfer?(length: number): unknown;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const parsers = {
  timestampFromMicroseconds: (microseconds: bigint) => microseconds,
  stringFromBytes: (bytes: Uint8Array) => utf8.decode(bytes),
};

interface Tail {
  readonly bytes: ArrayBuffer;
  readonly metadata: FileMetaData;
}

/** By name and hash, the latest used last. */
class Tails {
  readonly #max: number;
  readonly #known = new Map<string, Tail>();
  #bytes = 0;

  constructor(max: number) {
    this.#max = max;
  }

  find({ name, tail, tailSha256 }: FetchedGroup): Tail {
    const key = `${name} ${tailSha256}`;
    const known = this.#known.get(key);
    const found = known ?? tailOf(tail);
    if (known === undefined) this.#bytes += found.bytes.byteLength;
    this.#known.delete(key);
    this.#known.set(key, found);
    for (const [oldest, { bytes }] of this.#known) {
      if (this.#bytes <= this.#max || oldest === key) break;
      this.#known.delete(oldest);
      this.#bytes -= bytes.byteLength;
    }
    return found;
  }
}

const tailOf = (read: Uint8Array): Tail => {
  const bytes = bufferOf(read);
  const metadata = parquetMetadata(bytes, { parsers });
  return { bytes, metadata: { ...metadata, schema: metadata.schema.map(readAs) } };
};

/** Without what makes strings of a column. */
const readAs = (element: SchemaElement): SchemaElement => {
  if (element.name !== LONG_TEXT) return element;
  const { converted_type: _, logical_type: __, ...bytes } = element;
  return bytes;
};

const bufferOf = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;
