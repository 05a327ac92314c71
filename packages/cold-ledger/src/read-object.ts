/**
 * Reads rows of one object by parts with a known hash: a look-up reads the object's tail, which is cached, and one row
 * group.
 */
import type { ExportedForm, ObjectRange, ObjectStore } from '@svc/service';
import type { ObjectEntry } from './manifest.ts';
import {
  BEHIND_ALL,
  type ColumnBatch,
  type Condition,
  type FetchedGroup,
  groupReader,
  type ReadGroup,
  type Texts,
  type Wanted,
} from './read-group.ts';
import { COLUMNS_AS_READ, type ReceiptRow, type Stored, TABLES, type TableName } from './schema.ts';

/** A row as it is read: a Receipt with its JWS in one piece, any other row as it is stored. */
export type ReadRow<T extends TableName> = T extends 'receipts' ? ReceiptRow : Stored<T>;

export interface Scan<Name extends string> {
  /** `receipt_id` is always added. */
  readonly columns: readonly Name[];
  /** Conditions that must all hold. */
  readonly where?: readonly Condition[];
  readonly from: string;
  /** Only ids higher than this, if it is given. */
  readonly after?: string;
  readonly before: string;
  readonly isDescending: boolean;
  /** Maximum number of rows of each group, at least 1, the first in the requested order; default: all. */
  readonly most?: number;
  /** True: the SHA-256 of each JWS, in hex, replaces the JWS. */
  readonly isHashed?: boolean;
}

export interface TextsWanted<Name extends keyof ReceiptRow> {
  /** `receipt_id` is always added. */
  readonly columns: readonly Name[];
  readonly form: ExportedForm;
}

/** `text`: in UTF-8. */
export type RowWithText<Name extends keyof ReceiptRow> = Pick<ReceiptRow, Name | 'receipt_id'> & {
  readonly text: Uint8Array;
};

export interface ScannedGroup<T extends TableName, Name extends string> {
  /** The lowest id of the group, whether or not its row is included. */
  readonly first: string;
  readonly rows: readonly Pick<ReadRow<T>, (Name | 'receipt_id') & keyof ReadRow<T>>[];
}

/** Fetches parts of objects, and reads them. */
export interface GroupSource {
  /** The tail of an object, which is cached. */
  readTail(name: string, range: ObjectRange, signal?: AbortSignal): Promise<Uint8Array>;
  /** Fetches a group and finds the wanted rows in it. */
  readGroup(
    group: Omit<FetchedGroup, 'group'>,
    range: ObjectRange,
    wanted: Wanted,
    signal?: AbortSignal,
  ): Promise<ColumnBatch>;
}

/** Reads on this thread. */
export class DirectSource implements GroupSource {
  readonly #objects: ObjectStore;
  readonly #read: ReadGroup = groupReader();

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  readTail(name: string, range: ObjectRange, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#objects.getRange(name, range, signal);
  }

  async readGroup(
    group: Omit<FetchedGroup, 'group'>,
    range: ObjectRange,
    wanted: Wanted,
    signal?: AbortSignal,
  ): Promise<ColumnBatch> {
    return this.#read({ ...group, group: await this.#objects.getRange(group.name, range, signal) }, wanted);
  }
}

export class ObjectReader<T extends TableName> {
  readonly #store: ObjectStore;
  readonly #source: GroupSource;
  readonly #table: T;
  readonly #entry: ObjectEntry;
  /** Start of each group, and at the end that of the tail; in bytes and in rows. */
  readonly #offsets: readonly number[];
  readonly #firstRows: readonly number[];
  #tail: Uint8Array | null = null;
  /** The highest ids of groups that are known so far: a scan that starts after such an id skips that group. */
  readonly #lasts = new Map<number, string>();

  constructor(table: T, entry: ObjectEntry, store: ObjectStore, source: GroupSource) {
    this.#store = store;
    this.#source = source;
    this.#table = table;
    this.#entry = entry;
    this.#offsets = sumsOf(entry.groups.map(({ bytes }) => bytes));
    this.#firstRows = sumsOf(entry.groups.map(({ rows }) => rows));
  }

  /**
   * All rows as they are stored, group by group, read on this thread. The bytes of the next group are fetched
   * meanwhile.
   */
  async *groups(signal?: AbortSignal): AsyncGenerator<Stored<T>[]> {
    const count = this.#entry.groups.length;
    const wanted = { ...EVERYTHING, columns: Object.keys(TABLES[this.#table]), jws: 'stored' } as const;
    // The object's metadata is read once and not cached beyond this call.
    const read = groupReader(0);
    const fetch = (index: number) => (index < count ? this.#fetch(index, signal) : null);
    let next = fetch(0);
    for (let index = 0; index < count; index++) {
      const group = await next;
      next = fetch(index + 1);
      // It is awaited later; a rejection before that must not count as unhandled.
      next?.catch(() => {});
      if (group !== null) yield rowsOf(await read(group, wanted));
    }
  }

  /**
   * Some columns of the rows from `from` (inclusive) to `before` (exclusive) for which the conditions hold, group by
   * group, in the requested order. For a table that has one row for each Receipt.
   */
  async *scan<Name extends keyof ReadRow<T> & string>(
    { columns, where = [], from, after = '', before, isDescending, most, isHashed = false }: Scan<Name>,
    signal?: AbortSignal,
  ): AsyncGenerator<ScannedGroup<T, Name>> {
    const overlapping = [...this.#entry.groups.entries()].filter(
      ([index, { first }]) => first < before && this.#mayReach(index, from, after),
    );
    if (isDescending) overlapping.reverse();
    const jws = isHashed ? 'hashed' : 'whole';
    const wanted = {
      columns,
      where,
      from,
      after,
      before,
      jws,
      texts: null,
      most: most ?? null,
      isDescending,
    } as const;
    let next: Promise<ColumnBatch> | null = null;
    for (const [at, [index, { first }]] of overlapping.entries()) {
      const found = await (next ?? this.#read(index, wanted, signal));
      // A reader that continues after the first group probably wants the next one as well.
      const behind = at > 0 ? overlapping[at + 1] : undefined;
      next = behind === undefined ? null : this.#read(behind[0], wanted, signal);
      // It is awaited later; a rejection before that must not count as unhandled.
      next?.catch(() => {});
      if (found.last !== null) this.#lasts.set(index, found.last);
      const rows = rowsOf<ReadRow<T>>(found);
      yield { first, rows: isDescending ? rows.reverse() : rows };
    }
  }

  #mayReach(index: number, from: string, after: string): boolean {
    const { groups, last } = this.#entry;
    const next = groups[index + 1]?.first;
    const highest = next === undefined ? last : this.#lasts.get(index);
    if (highest !== undefined) return highest >= from && highest > after;
    return next === undefined || (next > from && next > after);
  }

  /** The rows of Receipts, in their order; each group that may contain any is read once. */
  find(receiptIds: readonly string[], signal?: AbortSignal): Promise<ReadRow<T>[]> {
    const wanted = { ...EVERYTHING, columns: COLUMNS_AS_READ[this.#table].map(([name]) => name) };
    return this.#find(receiptIds, wanted, rowsOf<ReadRow<T>>, signal);
  }

  /** Some columns of the table of Receipts, and the text of each Receipt in one form. */
  findTexts<Name extends keyof ReceiptRow>(
    receiptIds: readonly string[],
    { columns, form }: TextsWanted<Name>,
    signal?: AbortSignal,
  ): Promise<RowWithText<Name>[]> {
    const wanted = { ...EVERYTHING, columns, texts: form };
    const rowsWithText = (found: ColumnBatch) =>
      rowsOf<RowWithText<Name>>({ ...found, columns: { ...found.columns, text: piecesOf(found.texts) } });
    return this.#find(receiptIds, wanted, rowsWithText, signal);
  }

  async #find<Row>(
    receiptIds: readonly string[],
    wanted: Wanted,
    rowsIn: (found: ColumnBatch) => Row[],
    signal?: AbortSignal,
  ): Promise<Row[]> {
    const { groups } = this.#entry;
    const found: Row[] = [];
    const inOrder = receiptIds.toSorted();
    const [lowest = '', highest = ''] = [inOrder[0], inOrder.at(-1)];
    for (const [index, { first }] of groups.entries()) {
      const next = groups[index + 1]?.first;
      // A Receipt has one row; rows that belong to it may continue in the next group.
      const mayGoOn = this.#table !== 'receipts';
      const isBefore = (id: string) => next === undefined || id < next || (mayGoOn && id === next);
      if (first > highest || !isBefore(lowest)) continue;
      const oneOf = inOrder.filter((id) => id >= first && isBefore(id));
      if (oneOf.length === 0) continue;
      const where = [{ column: 'receipt_id', oneOf }];
      found.push(...rowsIn(await this.#read(index, { ...wanted, where }, signal)));
    }
    return found;
  }

  async #fetch(index: number, signal?: AbortSignal): Promise<FetchedGroup> {
    const [place, range] = [await this.#placeOf(index, signal), this.#rangeOf(index)];
    return { ...place, group: await this.#store.getRange(place.name, range, signal) };
  }

  async #read(index: number, wanted: Wanted, signal?: AbortSignal): Promise<ColumnBatch> {
    const place = await this.#placeOf(index, signal);
    return this.#source.readGroup(place, this.#rangeOf(index), wanted, signal);
  }

  async #placeOf(index: number, signal?: AbortSignal): Promise<Omit<FetchedGroup, 'group'>> {
    const { groups, name, bytes: byteLength, tail_sha256: tailSha256 } = this.#entry;
    const [offset = 0, firstRow = 0] = [this.#offsets[index], this.#firstRows[index]];
    const tail = await this.#loadTail(signal);
    return { name, byteLength, tail, tailSha256, offset, firstRow, rows: groups[index]?.rows ?? 0 };
  }

  #rangeOf(index: number): ObjectRange {
    const { bytes: length = 0, sha256 = '' } = this.#entry.groups[index] ?? {};
    return { offset: this.#offsets[index] ?? 0, length, sha256 };
  }

  async #loadTail(signal?: AbortSignal): Promise<Uint8Array> {
    if (this.#tail !== null) return this.#tail;
    const { name, bytes, tail_sha256: sha256 } = this.#entry;
    const offset = this.#offsets.at(-1) ?? 0;
    const read = await this.#source.readTail(name, { offset, length: bytes - offset, sha256 }, signal);
    this.#tail ??= read;
    return this.#tail;
  }
}

const EVERYTHING = {
  where: [],
  from: '',
  after: '',
  before: BEHIND_ALL,
  jws: 'whole',
  texts: null,
  most: null,
  isDescending: false,
} as const;

const sumsOf = (lengths: readonly number[]): number[] => {
  let end = 0;
  return [0, ...lengths.map((length) => (end += length))];
};

const rowsOf = <Row>({ count, columns }: ColumnBatch): Row[] => {
  const named = Object.entries(columns);
  return Array.from({ length: count }, (_, i) => {
    const row: Record<string, unknown> = {};
    for (const [name, values] of named) row[name] = values[i];
    return row as Row;
  });
};

const piecesOf = (texts: Texts | null): Uint8Array[] =>
  texts?.ends.map((end, i) => texts.bytes.subarray(texts.ends[i - 1] ?? 0, end)) ?? [];
