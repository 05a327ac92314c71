/** Reads a cold day by its manifest: one Receipt and the rows that belong to it, or the whole day in order. */
import type { ObjectStore } from '@svc/service';
import type { ColdDay, ObjectEntry } from './manifest.ts';
import { BEHIND_ALL } from './read-group.ts';
import {
  DirectSource,
  type GroupSource,
  ObjectReader,
  type ReadRow,
  type RowWithText,
  type Scan,
  type ScannedGroup,
  type TextsWanted,
} from './read-object.ts';
import { readReceipt } from './receipt-jws.ts';
import type { AttestationRow, ConsumptionRow, ReceiptRow, Stored, TableName } from './schema.ts';

/**
 * Number of JWS that are strings at a time. More of them would survive a garbage collection, which then copies them.
 */
const JOINED = 64;

/**
 * Bounds of a scan: Receipts with the id `at` or a higher one, and higher than `after`; '' is no bound. At most `limit`
 * of each group.
 */
interface Start {
  readonly at: string;
  readonly after: string;
  readonly limit: number;
}

export class ColdDayReader {
  readonly #store: ObjectStore;
  readonly #day: Pick<ColdDay, 'tables'>;
  readonly #source: GroupSource;
  readonly #readers = new Map<string, ObjectReader<TableName>>();

  /** `source`: reads the groups of a look-up; a whole day is always read on this thread. */
  constructor(
    store: ObjectStore,
    day: Pick<ColdDay, 'tables'>,
    source: GroupSource = new DirectSource(store),
  ) {
    this.#store = store;
    this.#day = day;
    this.#source = source;
  }

  /** The first id of each row group of Receipts, ascending. */
  get groupStarts(): readonly string[] {
    return this.#day.tables.receipts.flatMap(({ groups }) => groups.map(({ first }) => first));
  }

  async findReceipt(receiptId: string, signal?: AbortSignal): Promise<ReceiptRow | null> {
    const [found] = await this.#find('receipts', [receiptId], signal);
    return found ?? null;
  }

  /**
   * Some columns of the Receipts that exist, in the order of their ids, and the text of each in one form. Each group
   * that has any of them is read once.
   */
  async findTexts<Name extends keyof ReceiptRow>(
    receiptIds: readonly string[],
    wanted: TextsWanted<Name>,
    signal?: AbortSignal,
  ): Promise<RowWithText<Name>[]> {
    const found: RowWithText<Name>[] = [];
    for (const [entry, within] of this.#within('receipts', receiptIds))
      found.push(...(await this.#open('receipts', entry).findTexts(within, wanted, signal)));
    return found;
  }

  /** In the order of their ordinals. */
  findAttestations(receiptId: string, signal?: AbortSignal): Promise<AttestationRow[]> {
    return this.#find('attestations', [receiptId], signal);
  }

  findConsumption(receiptId: string, signal?: AbortSignal): Promise<ConsumptionRow[]> {
    return this.#find('consumption_events', [receiptId], signal);
  }

  async *receipts(signal?: AbortSignal): AsyncGenerator<ReceiptRow[]> {
    for await (const rows of this.rows('receipts', signal))
      for (let at = 0; at < rows.length; at += JOINED) yield rows.slice(at, at + JOINED).map(readReceipt);
  }

  /** Some thousand rows at a time, as they are stored. */
  async *rows<T extends TableName>(table: T, signal?: AbortSignal): AsyncGenerator<Stored<T>[]> {
    for (const entry of this.#day.tables[table]) yield* this.#open(table, entry).groups(signal);
  }

  /** The ids of Receipts from a start on, one group at a time. */
  ids(start: Start, signal?: AbortSignal): AsyncGenerator<ScannedGroup<'receipts', never>> {
    return this.scan({ columns: [], ...rangeOf(start) }, signal);
  }

  /** The same with the SHA-256 of each JWS, in hex, as `jws`. */
  leaves(start: Start, signal?: AbortSignal): AsyncGenerator<ScannedGroup<'receipts', 'jws'>> {
    return this.scan({ columns: ['jws'], ...rangeOf(start), isHashed: true }, signal);
  }

  /** Some columns of the Receipts in a range of ids, one group at a time (`ObjectReader.scan`). */
  async *scan<Name extends keyof ReceiptRow & string>(
    scan: Scan<Name>,
    signal?: AbortSignal,
  ): AsyncGenerator<ScannedGroup<'receipts', Name>> {
    const entries = this.#day.tables.receipts.filter(
      ({ first, last }) => first < scan.before && last >= scan.from && last > (scan.after ?? ''),
    );
    if (scan.isDescending) entries.reverse();
    for (const entry of entries) yield* this.#open('receipts', entry).scan(scan, signal);
  }

  async #find<T extends TableName>(
    table: T,
    receiptIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<ReadRow<T>[]> {
    const found: ReadRow<T>[] = [];
    for (const [entry, within] of this.#within(table, receiptIds))
      found.push(...(await this.#open(table, entry).find(within, signal)));
    return found;
  }

  /** The objects that may contain any of the ids, with the ids that each may contain. */
  #within(table: TableName, receiptIds: readonly string[]): (readonly [ObjectEntry, readonly string[]])[] {
    return this.#day.tables[table].flatMap((entry) => {
      const within = receiptIds.filter((id) => entry.first <= id && id <= entry.last);
      return within.length > 0 ? [[entry, within] as const] : [];
    });
  }

  #open<T extends TableName>(table: T, entry: ObjectEntry): ObjectReader<T> {
    const reader =
      this.#readers.get(entry.name) ??
      (new ObjectReader(table, entry, this.#store, this.#source) as unknown as ObjectReader<TableName>);
    this.#readers.set(entry.name, reader);
    return reader as unknown as ObjectReader<T>;
  }
}

const rangeOf = ({ at, after, limit }: Start) => ({
  ...{ from: at, after, before: BEHIND_ALL },
  ...{ most: limit, isDescending: false },
});
