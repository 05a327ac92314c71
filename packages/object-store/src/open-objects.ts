/** Opens the store of a configured place. */
import { type ObjectStore, ObjectStoreError, withinMs } from '@svc/service';
import { checkedStore, type Patience } from './checked-store.ts';
import { FILE_PLACES, type FolderOptions, openFiles } from './files.ts';
import { parsePlace } from './parse-place.ts';
import { Places } from './places.ts';

export interface OpenedObjects {
  readonly objects: ObjectStore;
  close(): void;
}

interface OpenOptions extends Omit<FolderOptions, 'places'> {
  readonly patience?: Patience;
  /** Given on another thread than the main thread: the `filePlaces` of the main thread. */
  readonly places?: SharedArrayBuffer;
}

/**
 * Memory in which calls into folders are counted, for a thread that has its own store: at most two calls of the process
 * run at a time.
 */
export const filePlaces = (): SharedArrayBuffer => FILE_PLACES.memory;

/** Frees the places of a thread that has ended. */
export const freeFilePlacesOf = (thread: number): void => FILE_PLACES.freeAllOf(thread);

/**
 * `file:///folder`, or `s3://bucket/prefix` at `endpoint` (null: Amazon's). The SDK is loaded only where it is needed.
 */
export const openObjects = async (
  place: string,
  endpoint: string | null,
  { patience, places, ...folder }: OpenOptions = {},
): Promise<OpenedObjects> => {
  const parsed = parsePlace(place);
  if ('folder' in parsed) {
    const shared = places === undefined ? {} : { places: new Places(places) };
    const files = await openFiles(parsed.folder, { ...folder, ...shared });
    return { objects: checkedStore(files, patience), close: () => {} };
  }
  const { openBucket } = await import('./bucket.ts');
  const bucket = openBucket(parsed, endpoint);
  return { objects: checkedStore(bucket, patience), close: bucket.close };
};

const MAKING_MS = 10_000;

/**
 * Returns the function that makes the place if it is a folder that does not exist yet. Rejects after ten seconds. While
 * one call hangs in a mount and keeps a thread of the process, no second one is made.
 */
export const placeMaker = (place: string, endpoint: string | null): (() => Promise<void>) => {
  let making: Promise<void> | null = null;
  const make = async (): Promise<void> => {
    try {
      (await openObjects(place, endpoint)).close();
    } finally {
      making = null;
    }
  };
  return () => {
    making ??= make();
    return withinMs(MAKING_MS, making, () => {
      throw new ObjectStoreError(
        'unavailable',
        `the folder of the objects could not be made within ${MAKING_MS / 1000} s: does its mount answer?`,
      );
    });
  };
};

/**
 * Rejects if the store does not answer. It asks for a listing: for a single object, S3 gives the same answer if the
 * object is missing and if its bucket is missing.
 */
export const assertAnswers = async (
  objects: Pick<ObjectStore, 'list'>,
  stop?: AbortSignal,
): Promise<void> => {
  await objects.list('nothing', null, 1, stop);
};
