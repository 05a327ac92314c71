/**
 * Every byte that a manifest names is hashed as it is read. What lies behind the last of them is not, and a reader of
 * Parquet begins there.
 */
import { type ObjectStore, ObjectStoreError } from '@svc/service';
import type { ObjectEntry } from './manifest.ts';

/**
 * Rejects with `ObjectStoreError`: `missing` where there is no such object, `wrong-bytes` where it is not as long as is
 * named.
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
