/**
 * Cold days that are opened, for all tenants. A manifest is some hundred thousand characters for a day of a million
 * Receipts, and to believe it takes tens of milliseconds of the thread: it is read once for all who ask for it
 * meanwhile, believed in the turn of cold reads, and its signature checked once.
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

/** Length of the manifests whose readers are remembered: the indexes of their objects take some twenty times as much. */
const MAX_CHARS = 4_194_304;

/** Where their objects are, and who tells which of what is recorded of them is to be believed. */
export interface ColdObjects {
  readonly objects: ObjectStore;
  readonly readManifest: ReadManifest;
  /** On whatever thread; on this one unless given. */
  readonly readGroup?: ReadElsewhere;
  /** Hears of objects of a day that are missing or altered. Throws nothing. */
  readonly onDamaged?: (day: Day, manifestHash: Sha256, problem: string) => void;
}

export interface RecordedDay {
  readonly day: Day;
  readonly manifest: string;
  readonly checkpointHash: Sha256;
}

/** A day, and the hash of the manifest that is recorded of it. */
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
  /** Hashes of manifests that the service has signed: 71 characters for each that was ever read. */
  readonly #verified = new Set<Sha256>();

  constructor({ objects, readManifest, readGroup = readHere() }: ColdObjects, maxChars = MAX_CHARS) {
    this.#readManifest = readManifest;
    this.#objects = objects;
    this.#reads = readQueue(objects, readGroup);
    this.#readers = new OpenReaders(maxChars);
  }

  /** Null also where that manifest was read as another day's: then it is not believed. */
  find(named: NamedDay): ColdDayReader | null {
    return this.#readers.find(named);
  }

  /**
   * The recorded manifest of a day. A caller that holds a session reads it by itself: the caller whose read it would share
   * may be waiting for that session.
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

/** Throws `DayMovedError` where no day has that manifest. */
export const findRecorded = async (database: Database, hash: Sha256): Promise<RecordedDay> => {
  const [row] = await database.read<RecordedDay>({ text: recordedSql, values: [hash] });
  if (row === undefined) throw new DayMovedError();
  return row;
};

interface OpenReader {
  /** That it was believed of. */
  readonly day: string;
  readonly reader: ColdDayReader;
  readonly chars: number;
}

/** By the hash of the manifest, the latest used last. */
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
 * The manifest as the service signed it, of that day as it was published: a row of the database alone says nothing of
 * what a day held.
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
