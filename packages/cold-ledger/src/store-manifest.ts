/** Signs the manifest of a day, stores it, and reads it back, so that a recorded manifest can be found again. */
import { objectName } from '@svc/object-store';
import { type Sha256, sha256Of } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import type { CheckpointRecord, ColdManifest, ObjectStore, ServiceDeps } from '@svc/service';
import { type ColdDay, signColdDay } from './manifest.ts';
import type { PackedDay } from './pack-day.ts';
import { manifestReader } from './read-manifest.ts';
import { SCHEMA_VERSION } from './schema.ts';

export interface SignDeps extends Pick<ServiceDeps, 'clock' | 'crypto' | 'identity'> {
  readonly objects: ObjectStore;
}

/**
 * Rejects if the store does not return what was stored, or if the service's own published keys do not verify the
 * signature.
 */
export const storeManifest = async (
  deps: SignDeps,
  checkpoint: CheckpointRecord,
  tables: Pick<ColdDay, 'tables' | 'replaces'>,
  stop: AbortSignal,
): Promise<ColdManifest> => {
  const { objects } = deps;
  const manifest = await sign(deps, checkpoint, tables);
  const bytes = Buffer.from(manifest);
  const name = objectName(manifestFolder(checkpoint.day), bytes, 'jws');
  await objects.put(name, bytes, stop);
  if (Buffer.compare(await objects.get(name, stop), bytes) !== 0)
    throw new Error(`${name} was not given back as it was stored`);
  return { manifest, manifestHash: hashOfManifest(bytes) };
};

export const manifestFolder = (day: string): string => `${day}/manifests`;

/** The name in the store of a recorded manifest. */
export const manifestName = (day: string, hash: Sha256): string =>
  `${manifestFolder(day)}/${hash.replace('sha256:', '')}.jws`;

export const hashOfManifest = (bytes: Uint8Array): Sha256 => sha256Of(nativeCrypto, bytes);

/** Where the data that was read back differs from what was published; null: nowhere. */
export const problemOf = (
  { treeSize, root, contentRoot, difference }: PackedDay,
  published: CheckpointRecord,
): string | null => {
  if (treeSize !== published.treeSize)
    return `it has ${treeSize} Receipts, and its checkpoint says ${published.treeSize}`;
  if (root !== published.root) return `its ids lead to ${root}, and its checkpoint says ${published.root}`;
  if (contentRoot !== published.contentRoot)
    return `its Receipts lead to ${contentRoot}, and its content root is ${published.contentRoot}`;
  return difference === null ? null : `what was read back differs in ${difference}`;
};

/** Throws if the service's own published keys do not verify the signature: then no reader could verify it. */
const sign = async (
  { clock, crypto, identity }: SignDeps,
  { day, treeSize, root, contentRoot, hash }: CheckpointRecord,
  { tables, replaces }: Pick<ColdDay, 'tables' | 'replaces'>,
): Promise<string> => {
  const manifest = await signColdDay(
    {
      ...{ iss: identity.did, day, iat: Math.floor(clock.nowMs() / 1000), schema: SCHEMA_VERSION, tables },
      ...{ tree_size: treeSize, root, content_root: contentRoot, checkpoint_hash: hash, replaces },
    },
    identity.statusKeys.signer,
  );
  manifestReader(identity, crypto)(manifest);
  return manifest;
};
