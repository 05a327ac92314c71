/** A cold day by its manifest: one Receipt and what belongs to it, or all of it in order. */
import type { ObjectStore } from '@svc/service';
import type { ColdDay, ObjectEntry } from './manifest.ts';
import { ObjectReader } from './read-object.ts';
import { readReceipt } from './receipt-jws.ts';
import type { AttestationRow, ConsumptionRow, ReceiptRow, Stored, TableName } from './schema.ts';

export class ColdDayReader {
  readonly #store: ObjectStore;
  readonly #day: Pick<ColdDay, 'tables'>;
  readonly #readers = new Map<string, ObjectReader<TableName>>();

  constructor(store: ObjectStore, day: Pick<ColdDay, 'tables'>) {
    this.#store = store;
    this.#day = day;
  }

  async findReceipt(receiptId: string, signal?: AbortSignal): Promise<ReceiptRow | null> {
    const [found] = await this.#find('receipts', receiptId, signal);
    return found === undefined ? null : readReceipt(found);
  }

  /** In the order of their ordinals. */
  findAttestations(receiptId: string, signal?: AbortSignal): Promise<AttestationRow[]> {
    return this.#find('attestations', receiptId, signal);
  }

  findConsumption(receiptId: string, signal?: AbortSignal): Promise<ConsumptionRow[]> {
    return this.#find('consumption_events', receiptId, signal);
  }

  async *receipts(signal?: AbortSignal): AsyncGenerator<ReceiptRow[]> {
    for await (const rows of this.rows('receipts', signal)) yield rows.map(readReceipt);
  }

  /** Some thousand at a time, as they are stored. */
  async *rows<T extends TableName>(table: T, signal?: AbortSignal): AsyncGenerator<Stored<T>[]> {
    for (const entry of this.#day.tables[table]) yield* this.#open<T>(entry).groups(signal);
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
    const reader = this.#readers.get(entry.name) ?? new ObjectReader<TableName>(this.#store, entry);
    this.#readers.set(entry.name, reader);
    return reader as unknown as ObjectReader<T>;
  }
}
