/**
 * What was last read of objects, in memory that threads share: it is hashed and copied once, however often it is decoded. Objects never change,
 * so it is as good as what is stored.
 */
import type { ObjectRange, ObjectStore } from '@svc/service';

/** Some sixteen row groups: as many as a page of an export reads of a relying party that has a sixth of the Receipts. */
const MAX_BYTES = 8_388_608;

/** As it reads, which hashes. Whoever wants what is being read meanwhile reads it as well. */
export const keepingRead = (
  objects: Pick<ObjectStore, 'getRange'>,
  maxBytes = MAX_BYTES,
): ObjectStore['getRange'] => {
  const kept = new Map<string, Uint8Array>();
  let bytes = 0;
  const keep = (key: string, found: Uint8Array): void => {
    if (found.length > maxBytes) return;
    bytes += found.length - (kept.get(key)?.length ?? 0);
    // The latest used last.
    kept.delete(key);
    kept.set(key, found);
    for (const [oldest, { length }] of kept) {
      if (bytes <= maxBytes) break;
      kept.delete(oldest);
      bytes -= length;
    }
  };
  return async (name, range, stop) => {
    const key = keyOf(name, range);
    const known = kept.get(key) ?? sharedCopyOf(await objects.getRange(name, range, stop));
    keep(key, known);
    return known;
  };
};

/** The hash is what was compared. */
const keyOf = (name: string, { offset, length, sha256 }: ObjectRange): string =>
  `${name} ${offset} ${length} ${sha256}`;

const sharedCopyOf = (bytes: Uint8Array): Uint8Array => {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
};
