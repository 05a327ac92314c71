/**
 * Manifests of a packed day in the store: whoever reads its objects without the database goes by them (docs/auditing.md). The one that is
 * recorded is there, and none that the service has not signed. Rejects where the store does not answer, which is no fault of what is in it.
 */
import { type ColdDay, isOfWhatIsStored, manifestFolder, manifestName } from '@svc/cold-ledger';
import type { Sha256 } from '@svc/protocol';
import { type ObjectStore, ObjectStoreError } from '@svc/service';
import type { CheckContext } from '../check.ts';
import { type ReadManifest, textOfError } from './read-manifest.ts';
import { namesBelow } from './stored-names.ts';

export const checkManifests = async (
  { query, note, report }: CheckContext,
  objects: ObjectStore,
  read: ReadManifest,
  { day, iat }: Pick<ColdDay, 'day' | 'iat'>,
  manifestHash: Sha256,
): Promise<void> => {
  const recorded = manifestName(day, manifestHash);
  const former = await query<{ hash: Sha256 }>(
    'select manifest_hash as hash from cold_manifests where day = $1',
    [day],
  );
  const known = new Set(former.map(({ hash }) => manifestName(day, hash)));
  let isThere = false;
  for await (const name of namesBelow(objects, manifestFolder(day))) {
    isThere ||= name === recorded;
    if (known.has(name)) continue;
    try {
      const text = Buffer.from(await objects.get(name)).toString();
      const found = name === recorded ? null : read(text);
      if (found !== null && (found.day !== day || found.iat > iat))
        note(`${day}: ${name} is signed by the service, and is not the manifest that is recorded`);
    } catch (error) {
      if (error instanceof ObjectStoreError && !isOfWhatIsStored(error)) throw error;
      report(day, `the manifest ${name} in the store: ${textOfError(error)}`);
    }
  }
  if (!isThere) report(day, `its manifest is not in the store, as ${recorded}`);
};
