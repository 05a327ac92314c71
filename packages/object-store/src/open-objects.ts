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
  /** On another thread than the first of the process: `filePlaces` of that. */
  readonly places?: SharedArrayBuffer;
}

/**
 * Where calls into folders are counted, for a thread that has a store of its own: at most two of the process are under
 * way.
 */
export const filePlaces = (): SharedArrayBuffer => FILE_PLACES.memory;

/** Frees what a thread kept that has ended. */
export const freeFilePlacesOf = (thread: number): void => FILE_PLACES.freeAllOf(thread);

/** `file:///folder`, or `s3://bucket/prefix` at `endpoint` (null: Amazon's). The SDK is loaded only where it is needed. */
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
 * What makes the place where it is a folder that is not there yet. Rejects after ten seconds. No second call is made while
 * one hangs in a mount, which keeps a thread of the process.
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
 * Rejects where the store does not answer. A listing is asked for: of an object alone S3 says the same whether that is
 * not there or its bucket is not.
 */
export const assertAnswers = async (
  objects: Pick<ObjectStore, 'list'>,
  stop?: AbortSignal,
): Promise<void> => {
  await objects.list('nothing', null, 1, stop);
};
