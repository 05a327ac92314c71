/** A cold day by its manifest: one Receipt and what belongs to it, or all of it in order. */
import type { ObjectStore } from '@svc/service';
import type { ColdDay, ObjectEntry } from './manifest.ts';
import { ObjectReader, type Ranges, type Scan, type ScannedGroup } from './read-object.ts';
import { readReceipt } from './receipt-jws.ts';
import {
  type AttestationRow,
  type ConsumptionRow,
  type ReceiptRow,
  type Stored,
  TABLES,
  type TableName,
} from './schema.ts';

/** So many JWS are text at a time: more of them outlive a collection, and are copied by it. */
const JOINED = 64;

/** Every receipt id is lower. */
const BEHIND_ALL = 'drc_~';

/** Receipts with the id `at` or a higher one, of these those behind `after`; '' is no bound. */
interface Start {
  readonly at: string;
  readonly after: string;
}

export class ColdDayReader {
  readonly #store: ObjectStore;
  readonly #day: Pick<ColdDay, 'tables'>;
  readonly #tails: Ranges;
  readonly #readers = new Map<string, ObjectReader<TableName>>();

  /** `tails`: where what describes an object is read, which is kept and is the same for all who read it. */
  constructor(store: ObjectStore, day: Pick<ColdDay, 'tables'>, tails: Ranges = store) {
    this.#store = store;
    this.#day = day;
    this.#tails = tails;
  }

  /** The first id of each row group of Receipts, ascending. */
  get groupStarts(): readonly string[] {
    return this.#day.tables.receipts.flatMap(({ groups }) => groups.map(({ first }) => first));
  }

  async findReceipt(receiptId: string, signal?: AbortSignal): Promise<ReceiptRow | null> {
    const [found] = await this.#find('receipts', receiptId, signal);
    return found === undefined ? null : readReceipt(found);
  }

  /** Those of them that are there, in the order of their ids; each group that has any is read once. */
  async findReceipts(receiptIds: readonly string[], signal?: AbortSignal): Promise<ReceiptRow[]> {
    const ids = [...receiptIds].sort();
    const found: Stored<'receipts'>[] = [];
    for (const entry of this.#day.tables.receipts) {
      const within = ids.filter((id) => entry.first <= id && id <= entry.last);
      if (within.length > 0) found.push(...(await this.#open<'receipts'>(entry).findAll(within, signal)));
    }
    return found.map(readReceipt);
  }

  /** In the order of their ordinals. */
  findAttestations(receiptId: string, signal?: AbortSignal): Promise<AttestationRow[]> {
    return this.#find('attestations', receiptId, signal);
  }

  findConsumption(receiptId: string, signal?: AbortSignal): Promise<ConsumptionRow[]> {
    return this.#find('consumption_events', receiptId, signal);
  }

  async *receipts(signal?: AbortSignal): AsyncGenerator<ReceiptRow[]> {
    for await (const rows of this.rows('receipts', signal))
      for (let at = 0; at < rows.length; at += JOINED) yield rows.slice(at, at + JOINED).map(readReceipt);
  }

  async *receiptsFrom(from: Start, signal?: AbortSignal): AsyncGenerator<ReceiptRow[]> {
    const names = Object.keys(TABLES.receipts) as (keyof Stored<'receipts'>)[];
    for await (const { rows } of this.scanFrom(from, names, signal)) yield rows.map(readReceipt);
  }

  /** Some columns, a group at a time. */
  scanFrom<Name extends keyof Stored<'receipts'> & string>(
    { at, after }: Start,
    columns: readonly Name[],
    signal?: AbortSignal,
  ): AsyncGenerator<ScannedGroup<'receipts', Name>> {
    return this.scan({ columns, from: at, after, before: BEHIND_ALL, isDescending: false }, signal);
  }

  /** Some thousand at a time, as they are stored. */
  async *rows<T extends TableName>(table: T, signal?: AbortSignal): AsyncGenerator<Stored<T>[]> {
    for (const entry of this.#day.tables[table]) yield* this.#open<T>(entry).groups(signal);
  }

  /** Some columns of the Receipts of a range of ids, a group at a time (`ObjectReader.scan`). */
  async *scan<Name extends keyof Stored<'receipts'> & string>(
    scan: Scan<Name>,
    signal?: AbortSignal,
  ): AsyncGenerator<ScannedGroup<'receipts', Name>> {
    const entries = this.#day.tables.receipts.filter(
      ({ first, last }) => first < scan.before && last >= scan.from && last > (scan.after ?? ''),
    );
    if (scan.isDescending) entries.reverse();
    for (const entry of entries) yield* this.#open<'receipts'>(entry).scan(scan, signal);
  }

  async #find<T extends TableName>(table: T, receiptId: string, signal?: AbortSignal): Promise<Stored<T>[]> {
    const entries = this.#day.tables[table].filter(
      ({ first, last }) => first <= receiptId && receiptId <= last,
    );
    const found: Stored<T>[] = [];
    for (const entry of entries) found.push(...(await this.#open<T>(entry).find(receiptId, signal)));
    return found;
  }

  #open<T extends TableName>(entry: ObjectEntry): ObjectReader<T> {
    const reader =
      this.#readers.get(entry.name) ?? new ObjectReader<TableName>(this.#store, entry, this.#tails);
    this.#readers.set(entry.name, reader);
    return reader as unknown as ObjectReader<T>;
  }
}
