/** Rows out of one object, by parts of it that have been hashed: a look-up reads its tail, which is remembered, and one row group. */
import type { ObjectStore } from '@svc/service';
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadata,
  parquetReadObjects,
  type SchemaElement,
} from 'hyparquet';
import type { ObjectEntry } from './manifest.ts';
import { LONG_TEXT, type Stored, type TableName } from './schema.ts';
import { decompressors, loadZstd } from './zstd.ts';

interface Tail {
  readonly bytes: ArrayBuffer;
  readonly metadata: FileMetaData;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const parsers = {
  timestampFromMicroseconds: (microseconds: bigint) => microseconds,
  stringFromBytes: (bytes: Uint8Array) => utf8.decode(bytes),
};

/** Of the rows that are asked for, by some of their columns: the others are decoded only where one matches. */
export interface RowCondition {
  readonly columns: readonly string[];
  readonly matches: (row: Readonly<Record<string, unknown>>) => boolean;
}

export interface Scan<Name extends string> {
  /** `receipt_id` always comes with them. */
  readonly columns: readonly Name[];
  readonly where?: RowCondition;
  readonly from: string;
  /** Higher ids alone, where it is given. */
  readonly after?: string;
  readonly before: string;
  readonly isDescending: boolean;
}

export interface ScannedGroup<T extends TableName, Name extends string> {
  /** The lowest id of the group, whether its row is among these or not. */
  readonly first: string;
  readonly rows: readonly Pick<Stored<T>, (Name | 'receipt_id') & keyof Stored<T>>[];
}

export type Ranges = Pick<ObjectStore, 'getRange'>;

export class ObjectReader<T extends TableName> {
  readonly #store: ObjectStore;
  readonly #entry: ObjectEntry;
  /** Where each group begins, and at last the tail. */
  readonly #offsets: readonly number[];
  readonly #tails: Ranges;
  #tail: Tail | null = null;
  /** The highest ids of groups, as far as they are known: whoever goes on behind one reads it no second time. */
  readonly #lasts = new Map<number, string>();

  /** `tails`: where its tail is read, for all who ask for it before it is there. */
  constructor(store: ObjectStore, entry: ObjectEntry, tails: Ranges = store) {
    this.#store = store;
    this.#entry = entry;
    this.#tails = tails;
    let end = 0;
    this.#offsets = [0, ...entry.groups.map(({ bytes }) => (end += bytes))];
  }

  /** All rows, group by group; the bytes of the next one are fetched meanwhile. */
  async *groups(signal?: AbortSignal): AsyncGenerator<Stored<T>[]> {
    const { groups } = this.#entry;
    const open = (index: number) => (index < groups.length ? this.#open(index, signal) : null);
    let next = open(0);
    for (const [index, { rows }] of groups.entries()) {
      const group = await next;
      next = open(index + 1);
      // Whoever goes on hears of it.
      next?.catch(() => {});
      if (group !== null) yield this.#decode(group, [0, rows]);
    }
  }

  /**
   * Some columns of the rows from `from` (inclusive) to `before` (exclusive) for which the condition holds, group by group, in the order asked
   * for. Of a table that has one row for each Receipt.
   */
  async *scan<Name extends keyof Stored<T> & string>(
    { columns, where, from, after = '', before, isDescending }: Scan<Name>,
    signal?: AbortSignal,
  ): AsyncGenerator<ScannedGroup<T, Name>> {
    const overlapping = [...this.#entry.groups.entries()].filter(
      ([index, { first }]) => first < before && this.#mayReach(index, from, after),
    );
    if (isDescending) overlapping.reverse();
    const names = [...new Set(['receipt_id', ...columns])];
    for (const [index, { first, rows }] of overlapping) {
      const group = await this.#open(index, signal);
      const matching = where === undefined ? null : await this.#match(group, rows, where);
      const [lowest, highest] = matching === null ? [0, rows - 1] : [matching[0], matching.at(-1)];
      const found =
        lowest === undefined || highest === undefined
          ? []
          : await this.#decode(group, [lowest, highest + 1], names);
      const last = found.at(-1)?.receipt_id;
      if (matching === null && last !== undefined) this.#lasts.set(index, last);
      const places = matching === null ? null : new Set(matching);
      const within = found.filter(
        ({ receipt_id: id }, i) =>
          id >= from && id > after && id < before && (places?.has(i + (lowest ?? 0)) ?? true),
      );
      yield { first, rows: isDescending ? within.reverse() : within };
    }
  }

  #mayReach(index: number, from: string, after: string): boolean {
    const { groups, last } = this.#entry;
    const next = groups[index + 1]?.first;
    const highest = next === undefined ? last : this.#lasts.get(index);
    if (highest !== undefined) return highest >= from && highest > after;
    return next === undefined || (next > from && next > after);
  }

  /** Places in the group, ascending. */
  async #match(group: OpenGroup, rows: number, { columns, matches }: RowCondition): Promise<number[]> {
    const found = await this.#decode(group, [0, rows], [...columns]);
    return found.flatMap((row, i) => (matches(row) ? [i] : []));
  }

  /** The rows of a Receipt. */
  async find(receiptId: string, signal?: AbortSignal): Promise<Stored<T>[]> {
    const { groups } = this.#entry;
    const found: Stored<T>[] = [];
    for (const [index, { first, rows }] of groups.entries()) {
      const next = groups[index + 1]?.first;
      // What belongs to a Receipt may go on in the next group.
      if (receiptId < first || (next !== undefined && receiptId > next)) continue;
      const group = await this.#open(index, signal);
      const ids = await this.#decode(group, [0, rows], ['receipt_id']);
      const from = ids.findIndex(({ receipt_id: id }) => id === receiptId);
      if (from < 0) continue;
      const to = ids.findLastIndex(({ receipt_id: id }) => id === receiptId) + 1;
      found.push(...(await this.#decode(group, [from, to])));
    }
    return found;
  }

  /** The rows of Receipts of which each has one. */
  async findAll(receiptIds: readonly string[], signal?: AbortSignal): Promise<Stored<T>[]> {
    const { groups } = this.#entry;
    const wanted = new Set(receiptIds);
    const found: Stored<T>[] = [];
    for (const [index, { first, rows }] of groups.entries()) {
      const next = groups[index + 1]?.first;
      if (!receiptIds.some((id) => id >= first && (next === undefined || id < next))) continue;
      const group = await this.#open(index, signal);
      const ids = await this.#decode(group, [0, rows], ['receipt_id']);
      const places = [...ids.keys()].filter((i) => wanted.has(ids[i]?.receipt_id ?? ''));
      const [from, to] = [places[0], places.at(-1)];
      if (from === undefined || to === undefined) continue;
      const decoded = await this.#decode(group, [from, to + 1]);
      found.push(...decoded.filter(({ receipt_id: id }) => wanted.has(id)));
    }
    return found;
  }

  async #open(index: number, signal?: AbortSignal): Promise<OpenGroup> {
    const { groups, name, bytes: byteLength } = this.#entry;
    const { bytes: length = 0, sha256 = '' } = groups[index] ?? {};
    const offset = this.#offsets[index] ?? 0;
    // The group last: a paced store hands it over when it may be decoded.
    const tail = await this.#loadTail(signal);
    const group = await this.#store.getRange(name, { offset, length, sha256 }, signal);
    const firstRow = groups.slice(0, index).reduce((sum, { rows }) => sum + rows, 0);
    const tailAt = this.#offsets.at(-1) ?? 0;
    const slice = (start: number, end = byteLength): ArrayBuffer => {
      if (start >= tailAt) return tail.bytes.slice(start - tailAt, end - tailAt);
      if (start < offset || end > offset + length)
        throw new RangeError(`${name}: its metadata leads out of the group`);
      return bufferOf(group.subarray(start - offset, end - offset));
    };
    return { metadata: tail.metadata, firstRow, file: { byteLength, slice } };
  }

  async #decode(
    { file, metadata, firstRow }: OpenGroup,
    [from, to]: readonly [number, number],
    columns?: string[],
  ): Promise<Stored<T>[]> {
    const rows = await parquetReadObjects({
      ...{ file, metadata, parsers, compressors: decompressors, utf8: false, useOffsetIndex: true },
      ...{ rowStart: firstRow + from, rowEnd: firstRow + to },
      ...(columns === undefined ? {} : { columns }),
    });
    return rows as unknown as Stored<T>[];
  }

  async #loadTail(signal?: AbortSignal): Promise<Tail> {
    if (this.#tail !== null) return this.#tail;
    const { name, bytes, tail_sha256: sha256 } = this.#entry;
    await loadZstd();
    const offset = this.#offsets.at(-1) ?? 0;
    const read = await this.#tails.getRange(name, { offset, length: bytes - offset, sha256 }, signal);
    this.#tail ??= tailOf(read);
    return this.#tail;
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

interface OpenGroup {
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  /** Of the group, counted in the object. */
  readonly firstRow: number;
}

const bufferOf = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;
