/**
 * Reads rows of one row group by columns. Query and result are plain data, and the work has no other input. So a
 * process that answers requests can run it on a separate thread.
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

/** A fetched row group with the tail of its object. The caller has checked the hashes of both. */
export interface FetchedGroup {
  /** Name of the object. */
  readonly name: string;
  readonly byteLength: number;
  /** The end of the object: its metadata and indexes. `tailSha256`: the key under which it is cached. */
  readonly tail: Uint8Array;
  readonly tailSha256: string;
  /** Start of the group in the object, in bytes and in rows. */
  readonly offset: number;
  readonly firstRow: number;
  readonly rows: number;
  readonly group: Uint8Array;
}

/** Condition: the value of a column is one of these. */
export interface Condition {
  readonly column: string;
  readonly oneOf: readonly (string | null)[];
}

export interface Wanted {
  /** `receipt_id` is always added. */
  readonly columns: readonly string[];
  /**
   * Content of the column `jws`: the stored value, which is null if the parts are stored instead, or one of these
   * forms.
   */
  readonly jws: 'stored' | ReceiptForm;
  /** Form of the text that is wanted of each Receipt beside the columns; null: none. */
  readonly texts: ExportedForm | null;
  /** Conditions that must all hold. */
  readonly where: readonly Condition[];
  /**
   * Bounds of the ids: `from` is inclusive, `after` and `before` are exclusive. '' in `from` or `after` is no bound.
   */
  readonly from: string;
  readonly after: string;
  readonly before: string;
  /** Maximum number of matching rows: the highest ids if the order is descending, else the lowest. Null: all. */
  readonly most: number | null;
  readonly isDescending: boolean;
}

/** Form of a Receipt: its JWS, or the SHA-256 of its JWS in hex. */
export type ReceiptForm = 'whole' | 'hashed';

/**
 * Texts in UTF-8, one after another in one buffer. As separate values they would be copied once more on their way to
 * another thread.
 */
export interface Texts {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** End of each text in the buffer. */
  readonly ends: readonly number[];
}

export interface ColumnBatch {
  readonly count: number;
  /** Values of each wanted column, for the rows that were found, by ascending ids. */
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
  /** Texts of the Receipts, if they are wanted. */
  readonly texts: Texts | null;
  /** The highest id of the group, if all its ids were read. */
  readonly last: string | null;
}

export type ReadGroup = (group: FetchedGroup, wanted: Wanted) => Promise<ColumnBatch>;

/**
 * The result of another thread. Deserializing it takes the receiver's own time, so this is done only when it is asked
 * for.
 */
export interface SealedColumns {
  open(): ColumnBatch;
}
export type ReadElsewhere = (group: FetchedGroup, wanted: Wanted) => Promise<SealedColumns>;

/** Higher than every receipt id. */
export const BEHIND_ALL = 'drc_~';

/** Maximum bytes of an object's metadata and indexes; in memory they take some twenty times as much. */
const MAX_TAIL_BYTES = 4_194_304;

/** These columns are read in place, where they were decompressed; all others have been copied. */
const BYTES: ReadonlySet<string> = new Set(['payload', 'signature']);

const PARTS = [...JWS_PARTS, 'jws'];

/** Caches the metadata of objects, up to `maxTailBytes`. */
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

/**
 * Reads first the columns of the conditions, then the ids of the remaining rows, and at last the other columns of the
 * wanted rows.
 */
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

/** The span from the first place to the one after the last; null: there is none. */
const spanOf = (places: readonly number[]): Span | null => {
  const [first, last] = [places[0], places.at(-1)];
  return first === undefined || last === undefined ? null : [first, last + 1];
};

/** Matching places in the group, ascending. */
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

/** A range of rows in the group: the first, and the one after the last. */
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
   * Releases the memory of pages before the garbage collector does, where Node can. A group takes some megabytes, so
   * the collector would otherwise run for every few groups. No value that was read may refer to this memory.
   */
  free(): void {
    for (const buffer of this.#memory) (buffer as Movable).transfer?.(0);
  }

  #remember<Memory extends ArrayBufferLike>(memory: Memory): Memory {
    if ('transfer' in memory && memory.byteLength >= WORTH_FREEING_BYTES) this.#memory.push(memory);
    return memory;
  }

  /** Values of the rows in the range, without the row at its end. A column that was read whole is not decoded again. */
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
      // The reader returns whole pages.
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

/** Smaller buffers may share memory with others. */
const WORTH_FREEING_BYTES = 131_072;
/** Available from Node 22 on. */
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

/** Cache by name and hash; the most recently used is last. */
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

/** Removes the types that would turn the column into strings. */
const readAs = (element: SchemaElement): SchemaElement => {
  if (element.name !== LONG_TEXT) return element;
  const { converted_type: _, logical_type: __, ...bytes } = element;
  return bytes;
};

const bufferOf = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;
