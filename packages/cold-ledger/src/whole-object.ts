/**
 * Checks the length of an object. Every byte that a manifest names is hashed when it is read. Bytes after the last of
 * them would not be, and a Parquet reader begins at the end of a file.
 */
import { type ObjectStore, ObjectStoreError } from '@svc/service';
import type { ObjectEntry } from './manifest.ts';

/**
 * Rejects with `ObjectStoreError`: `missing` if there is no such object, `wrong-bytes` if its length differs from the
 * manifest.
 */
export const assertWhole = async (
  store: Pick<ObjectStore, 'head'>,
  { name, bytes }: Pick<ObjectEntry, 'name' | 'bytes'>,
  signal?: AbortSignal,
): Promise<void> => {
  const size = await store.head(name, signal);
  if (size === null) throw new ObjectStoreError('missing', `nothing is stored under ${name}`);
  if (size !== bytes)
    throw new ObjectStoreError('wrong-bytes', `${name} has ${size} bytes, and ${bytes} of it are named`);
};
