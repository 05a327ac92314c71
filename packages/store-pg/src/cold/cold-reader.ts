/** Reads Receipts of days that have left the database, from the objects that their recorded manifests name. */
import { type ColdDayReader, isOfWhatIsStored, type ReceiptRow } from '@svc/cold-ledger';
import type { ReceiptId, Sha256 } from '@svc/protocol';
import { type Day, ObjectStoreError, StoreError, type Tenant } from '@svc/service';
import type { Database } from '../database.ts';
import { dayOfId } from '../receipt-ids.ts';
import { ColdReadError, DayMovedError } from './cold-errors.ts';
import { type ColdObjects, findRecorded, type NamedDay, OpenDays } from './open-days.ts';
import { onAccountOf } from './read-queue.ts';

/** Milliseconds for one question, however many days it reads and however often it is retried. */
const READ_MS = 20_000;

/** The time limits of a question. The limit for the whole answer begins with the first object. */
export class ReadTime {
  #signal: AbortSignal | null = null;
  readonly #pageEndsMs: number;

  /**
   * `pageMs`: how long the question searches cold days before it answers with what it has found; null: until it is
   * done.
   */
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

/** What a question is asked of: the database, and the cold days. */
export interface Ledger {
  readonly database: Database;
  readonly cold: ColdReader;
}

export interface Question extends Ledger {
  readonly time: ReadTime;
}

/** Where cold days are, and the function that verifies their recorded manifests. */
export interface ColdPlace extends ColdObjects {
  /** How long one page of a list searches cold days, ms. Default 150. */
  readonly pageMs?: number;
}

/** Half of the time that a list may take, since a row group that was begun is read to its end. */
const PAGE_MS = 150;

export class ColdReader {
  /**
   * `place` null: this process was not configured with cold days, so it cannot read them. `tenant`: on whose account it
   * reads; null: the service's own.
   */
  constructor(
    private readonly place: ColdPlace | null,
    private readonly tenant: Tenant | null = null,
    private readonly opened: OpenDays | null = place && new OpenDays(place),
  ) {}

  /** The same days, read on another tenant's account. */
  as(tenant: Tenant | null): ColdReader {
    return new ColdReader(this.place, tenant, this.opened);
  }

  get pageMs(): number {
    return this.place?.pageMs ?? PAGE_MS;
  }

  /**
   * Runs `work` on a day as its manifest lists it. Rejects with `ColdReadError` where the objects cannot be read: a
   * Receipt that exists but cannot be read is never reported as absent.
   */
  async read<T>(
    { database, time }: Omit<Question, 'cold'>,
    named: NamedDay,
    work: (day: ColdDayReader, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { tenant, opened } = this;
    if (opened === null) throw new ColdReadError('SVC_COLD is not set, and there are cold days');
    const { hash } = named;
    const found = opened.find(named) ?? (await opened.findRecorded(database, hash));
    database.rest?.();
    try {
      time.signal.throwIfAborted();
      return await onAccountOf(tenant, async () => {
        const day = 'manifest' in found ? await opened.open(found, hash, time.signal) : found;
        return work(day, time.signal);
      });
    } catch (error) {
      // Objects that only a former manifest names are deleted some time after it was replaced. The day is then read by
      // the new manifest.
      if (error instanceof ObjectStoreError && error.kind === 'missing') await findRecorded(database, hash);
      if (error instanceof ObjectStoreError && isOfWhatIsStored(error))
        this.place?.onDamaged?.(named.day, hash, error.message);
      if (error instanceof ObjectStoreError || (error instanceof Error && error.name === 'TimeoutError'))
        throw new ColdReadError(`cold days: ${error.message}`, { cause: error });
      throw error;
    }
  }

  /** Null: that day has no such Receipt. */
  find(question: Omit<Question, 'cold'>, hash: Sha256, receiptId: ReceiptId): Promise<ReceiptRow | null> {
    const named = { day: dayOfId(receiptId), hash };
    return this.read(question, named, (day, signal) => day.findReceipt(receiptId, signal));
  }
}

const UNDEFINED_TABLE = '42P01';
const ATTEMPTS = 4;

/**
 * Repeats `work` where the partition or the manifest of a day that it named has moved meanwhile. Not for work inside a
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

/** The manifest hashes of the cold days among these days. */
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
