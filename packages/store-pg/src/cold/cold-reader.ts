/** Receipts of days that have left the database, out of the objects that their recorded manifests name. */
import { createHash } from 'node:crypto';
import { type ColdDay, ColdDayReader, type ReadManifest, type ReceiptRow } from '@svc/cold-ledger';
import type { ReceiptId, Sha256 } from '@svc/protocol';
import { type Day, type ObjectStore, ObjectStoreError, StoreError, type Tenant } from '@svc/service';
import type { Database } from '../database.ts';
import { onAccountOf, type PacedStore, pacedStore } from './paced-store.ts';

/** Of one question, however many days it reads, and however often it is asked anew. */
const READ_MS = 20_000;
/** Of manifests whose readers are remembered: the indexes of their objects take some twenty times as much. */
const MAX_CHARS = 4_194_304;

/** The times of a question. That in which it must be answered begins with the first object. */
export class ReadTime {
  #signal: AbortSignal | null = null;
  readonly #pageEndsMs: number;

  /** `pageMs`: how long it looks through cold days before it answers with what it has found; null: until it is done. */
  constructor(pageMs: number | null = null) {
    this.#pageEndsMs = pageMs === null ? Number.POSITIVE_INFINITY : performance.now() + pageMs;
  }

  isPageOver(): boolean {
    return performance.now() >= this.#pageEndsMs;
  }

  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.timeout(READ_MS);
    return this.#signal;
  }
}

/** Somebody's question, wherever what it is about may be. */
export interface Ledger {
  readonly database: Database;
  readonly cold: ColdReader;
}
export interface Question extends Ledger {
  readonly time: ReadTime;
}

/** Cold days cannot be read, or not in time: of the database it says nothing. */
export class ColdReadError extends StoreError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('unavailable', message, options);
  }
}

/** Where cold days are, and who tells which of what is recorded of them is to be believed. */
export interface ColdPlace {
  readonly objects: ObjectStore;
  readonly readManifest: ReadManifest;
  /** For how long a page of a list looks through cold days; 150 unless given. */
  readonly pageMs?: number;
}

/** Half of what a list may take, since a row group that is begun is read to its end. */
const PAGE_MS = 150;

/** What is opened, for all tenants. */
interface Opened {
  readonly objects: PacedStore | null;
  readonly readers: OpenReaders;
}

/** By the hash of the manifest, the latest used last. */
class OpenReaders {
  readonly #readers = new Map<Sha256, { readonly reader: ColdDayReader; readonly chars: number }>();
  #chars = 0;

  find(hash: Sha256): ColdDayReader | null {
    const known = this.#readers.get(hash);
    if (known === undefined) return null;
    this.#readers.delete(hash);
    this.#readers.set(hash, known);
    return known.reader;
  }

  keep(hash: Sha256, reader: ColdDayReader, chars: number): void {
    if (!this.#readers.has(hash)) this.#chars += chars;
    this.#readers.set(hash, { reader, chars });
    for (const [oldest, former] of this.#readers) {
      if (this.#chars <= MAX_CHARS || oldest === hash) break;
      this.#readers.delete(oldest);
      this.#chars -= former.chars;
    }
  }
}

export class ColdReader {
  /**
   * `place` null: this process was not told where cold days are, so it cannot answer for them. `tenant`: on whose account it reads, null: the
   * service's own.
   */
  constructor(
    private readonly place: ColdPlace | null,
    private readonly tenant: Tenant | null = null,
    private readonly opened: Opened = {
      objects: place && pacedStore(place.objects),
      readers: new OpenReaders(),
    },
  ) {}

  /** The same days, read in the turn of another. */
  as(tenant: Tenant | null): ColdReader {
    return new ColdReader(this.place, tenant, this.opened);
  }

  get pageMs(): number {
    return this.place?.pageMs ?? PAGE_MS;
  }

  /**
   * Runs `work` on a day as its manifest has it. Rejects with `ColdReadError` where the objects cannot be read: what is there and
   * cannot be read is never said to be absent.
   */
  async read<T>(
    { database, time }: Omit<Question, 'cold'>,
    hash: Sha256,
    work: (day: ColdDayReader, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { place, tenant } = this;
    const { objects } = this.opened;
    if (place === null || objects === null)
      throw new ColdReadError('SVC_COLD is not set, and there are cold days');
    const reader = await this.#open(database, hash, { ...place, objects });
    database.rest?.();
    try {
      time.signal.throwIfAborted();
      return await onAccountOf(tenant, () => work(reader, time.signal));
    } catch (error) {
      if (error instanceof ObjectStoreError && error.kind === 'missing')
        await this.#refuseFormer(database, hash);
      if (error instanceof ObjectStoreError || (error instanceof Error && error.name === 'TimeoutError'))
        throw new ColdReadError(`cold days: ${error.message}`, { cause: error });
      throw error;
    }
  }

  /** Null: there is no such Receipt in that day. */
  find(question: Omit<Question, 'cold'>, hash: Sha256, receiptId: ReceiptId): Promise<ReceiptRow | null> {
    return this.read(question, hash, (day, signal) => day.findReceipt(receiptId, signal));
  }

  /** What only a former manifest names is deleted some time after it was replaced: then the day is read by the new one. */
  async #refuseFormer(database: Database, hash: Sha256): Promise<void> {
    const [row] = await database.read<RecordedDay>({ text: recordedSql, values: [hash] });
    if (row === undefined) throw new DayMovedError();
  }

  async #open(
    database: Database,
    hash: Sha256,
    place: ColdPlace & { readonly objects: PacedStore },
  ): Promise<ColdDayReader> {
    const known = this.opened.readers.find(hash);
    if (known !== null) return known;
    const [row] = await database.read<RecordedDay>({ text: recordedSql, values: [hash] });
    if (row === undefined) throw new DayMovedError();
    const reader = new ColdDayReader(place.objects, believedOf(place, row, hash), place.objects.shared);
    this.opened.readers.keep(hash, reader, row.manifest.length);
    return reader;
  }
}

interface RecordedDay {
  readonly day: Day;
  readonly manifest: string;
  readonly checkpointHash: Sha256;
}

const recordedSql = `
  select day::text as day, manifest, hash as "checkpointHash" from cold_days join checkpoints using (day) where manifest_hash = $1`;

/** The manifest as the service signed it, of that day as it was published: a row of the database alone says nothing of what a day held. */
const believedOf = (
  { readManifest }: ColdPlace,
  { day, manifest, checkpointHash }: RecordedDay,
  hash: Sha256,
): ColdDay => {
  const refuse = (problem: string, cause?: unknown) =>
    new ColdReadError(`cold days: what is recorded of ${day} is not believed: ${problem}`, { cause });
  if (`sha256:${createHash('sha256').update(manifest).digest('hex')}` !== hash)
    throw refuse('the hash of its manifest is another');
  let read: ColdDay;
  try {
    read = readManifest(manifest);
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error), error);
  }
  if (read.day !== day || read.checkpoint_hash !== checkpointHash)
    throw refuse('its manifest is of another day');
  return read;
};

/** A day left the database, came back to it, or got another manifest, between two statements. */
export class DayMovedError extends StoreError {
  constructor() {
    super('unavailable', 'a day has moved between the database and the store of cold days');
  }
}

const UNDEFINED_TABLE = '42P01';
const ATTEMPTS = 4;

/**
 * What names the partition of a day, or the manifest of one, is made anew where it is found to have moved. Not for what is part of a
 * transaction, which has failed by then.
 */
export const againIfMoved = async <T>(
  ledger: Ledger,
  work: (question: Question) => Promise<T>,
  pageMs: number | null = null,
): Promise<T> => {
  const question = { ...ledger, time: new ReadTime(pageMs) };
  for (let attempt = 1; ; attempt++)
    try {
      return await work(question);
    } catch (error) {
      if (attempt === ATTEMPTS || !isMoved(error)) throw error;
    }
};

const isMoved = (error: unknown): boolean =>
  error instanceof DayMovedError ||
  (error instanceof StoreError && (error.cause as { code?: string } | undefined)?.code === UNDEFINED_TABLE);

/** The manifests of those among these days that are cold. */
export const findColdDays = async (
  database: Database,
  days: readonly Day[],
): Promise<ReadonlyMap<Day, Sha256>> => {
  const rows = await database.read<{ day: Day; hash: Sha256 }>({
    text: `select day::text as day, manifest_hash as hash from cold_days where state = 'cold' and day = any ($1::date[])`,
    values: [days],
  });
  return new Map(rows.map(({ day, hash }) => [day, hash]));
};
