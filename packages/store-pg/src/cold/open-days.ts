/**
 * Cold days that are open, for all tenants. The manifest of a day with a million Receipts has some hundred thousand
 * characters, and verifying it takes tens of milliseconds of the thread. So concurrent callers share one read of a
 * manifest, it is verified in the queue of cold reads, and its signature is checked only once.
 */
import {
  type ColdDay,
  ColdDayReader,
  groupReader,
  parseColdDay,
  type ReadElsewhere,
  type ReadManifest,
} from '@svc/cold-ledger';
import { type Sha256, sha256Of } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { type Day, messageOf, type ObjectStore } from '@svc/service';
import type { Database } from '../database.ts';
import { ColdReadError, DayMovedError } from './cold-errors.ts';
import { type ReadQueue, readQueue } from './read-queue.ts';

/**
 * Total length of the manifests whose readers are kept. The indexes of their objects take some twenty times as much
 * memory.
 */
const MAX_CHARS = 4_194_304;

/** Where the objects of cold days are, and the function that verifies their recorded manifests. */
export interface ColdObjects {
  readonly objects: ObjectStore;
  readonly readManifest: ReadManifest;
  /** Decodes row groups, on any thread. Default: on this thread. */
  readonly readGroup?: ReadElsewhere;
  /** Called for objects of a day that are missing or altered. Must not throw. */
  readonly onDamaged?: (day: Day, manifestHash: Sha256, problem: string) => void;
}

export interface RecordedDay {
  readonly day: Day;
  readonly manifest: string;
  readonly checkpointHash: Sha256;
}

/** A day, and the recorded hash of its manifest. */
export interface NamedDay {
  readonly day: string;
  readonly hash: Sha256;
}

const recordedSql = `
  select day::text as day, manifest, hash as "checkpointHash" from cold_days join checkpoints using (day) where manifest_hash = $1`;

const readHere = (): ReadElsewhere => {
  const read = groupReader();
  return async (group, wanted) => {
    const found = await read(group, wanted);
    return { open: () => found };
  };
};

export class OpenDays {
  readonly #readManifest: ReadManifest;
  readonly #objects: ObjectStore;
  readonly #reads: ReadQueue;
  readonly #readers: OpenReaders;
  readonly #asked = new Map<Sha256, Promise<RecordedDay>>();
  /** Hashes of manifests whose signature was verified: 71 characters for each manifest ever read. */
  readonly #verified = new Set<Sha256>();

  constructor({ objects, readManifest, readGroup = readHere() }: ColdObjects, maxChars = MAX_CHARS) {
    this.#readManifest = readManifest;
    this.#objects = objects;
    this.#reads = readQueue(objects, readGroup);
    this.#readers = new OpenReaders(maxChars);
  }

  /** Null also where that manifest was read as that of another day; it is not trusted then. */
  find(named: NamedDay): ColdDayReader | null {
    return this.#readers.find(named);
  }

  /**
   * The recorded manifest of a day. A caller that holds a session reads it itself. If it shared another caller's read,
   * that caller might be waiting for this session.
   */
  async findRecorded(database: Database, hash: Sha256): Promise<RecordedDay> {
    if (database.rest !== undefined) return findRecorded(database, hash);
    const isAsked = this.#asked.has(hash);
    try {
      return await this.#ask(database, hash);
    } catch (error) {
      // Another caller's failed statement says nothing about this one.
      if (isAsked) return this.#ask(database, hash);
      throw error;
    }
  }

  async open(recorded: RecordedDay, hash: Sha256, stop: AbortSignal): Promise<ColdDayReader> {
    const known = this.find({ day: recorded.day, hash });
    return (
      known ??
      (await this.#reads.inTurn(`${recorded.day} ${hash}`, () => this.#openNow(recorded, hash), stop))
    );
  }

  #ask(database: Database, hash: Sha256): Promise<RecordedDay> {
    const others = this.#asked.get(hash);
    if (others !== undefined) return others;
    const asked = findRecorded(database, hash).finally(() => this.#asked.delete(hash));
    this.#asked.set(hash, asked);
    return asked;
  }

  #openNow(recorded: RecordedDay, hash: Sha256): ColdDayReader {
    const known = this.find({ day: recorded.day, hash });
    if (known !== null) return known;
    const believed = believedOf(this.#verified.has(hash) ? parseColdDay : this.#readManifest, recorded, hash);
    this.#verified.add(hash);
    const reader = new ColdDayReader(this.#objects, believed, this.#reads);
    this.#readers.keep(hash, { day: recorded.day, reader, chars: recorded.manifest.length });
    return reader;
  }
}

/** Rejects with `DayMovedError` where no day has that manifest. */
export const findRecorded = async (database: Database, hash: Sha256): Promise<RecordedDay> => {
  const [row] = await database.read<RecordedDay>({ text: recordedSql, values: [hash] });
  if (row === undefined) throw new DayMovedError();
  return row;
};

interface OpenReader {
  /** The day for which the manifest was verified. */
  readonly day: string;
  readonly reader: ColdDayReader;
  readonly chars: number;
}

/** Readers by the hash of their manifest, the most recently used last. */
class OpenReaders {
  readonly #maxChars: number;
  readonly #readers = new Map<Sha256, OpenReader>();
  #chars = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  find({ day, hash }: NamedDay): ColdDayReader | null {
    const known = this.#readers.get(hash);
    if (known === undefined || known.day !== day) return null;
    this.#readers.delete(hash);
    this.#readers.set(hash, known);
    return known.reader;
  }

  keep(hash: Sha256, opened: OpenReader): void {
    if (!this.#readers.has(hash)) this.#chars += opened.chars;
    this.#readers.set(hash, opened);
    for (const [oldest, former] of this.#readers) {
      if (this.#chars <= this.#maxChars || oldest === hash) break;
      this.#readers.delete(oldest);
      this.#chars -= former.chars;
    }
  }
}

/**
 * Verifies that the service signed the manifest, and that it is of this day as published. A row of the database alone
 * does not prove what a day held.
 */
const believedOf = (
  readManifest: ReadManifest,
  { day, manifest, checkpointHash }: RecordedDay,
  hash: Sha256,
): ColdDay => {
  const refuse = (problem: string, cause?: unknown) =>
    new ColdReadError(`cold days: what is recorded of ${day} is not believed: ${problem}`, { cause });
  if (sha256Of(nativeCrypto, manifest) !== hash) throw refuse('the hash of its manifest is another');
  let read: ColdDay;
  try {
    read = readManifest(manifest);
  } catch (error) {
    throw refuse(messageOf(error), error);
  }
  if (read.day !== day || read.checkpoint_hash !== checkpointHash)
    throw refuse('its manifest is of another day');
  return read;
};
