/**
 * Checks that the store is the one that days were packed into before. With another store, nothing may be recorded,
 * detached or dropped.
 */
import { type ObjectStore, ObjectStoreError, type ServiceDeps } from '@svc/service';
import { manifestName } from './store-manifest.ts';

interface StoreDeps {
  readonly objects: Pick<ObjectStore, 'head'>;
  readonly store: { readonly coldDays: Pick<ServiceDeps['store']['coldDays'], 'listLatestManifests'> };
}

/** Number of the latest manifests that are looked for; a single one may be missing for a reason of its own. */
const WITNESSES = 3;

/**
 * Rejects if more than half of the manifests that were recorded last are not in the store: it is another folder or
 * bucket than before, or one that is not mounted. Days packed into it would be missing once the right store is back.
 */
export const assertSameStore = async ({ objects, store }: StoreDeps, stop: AbortSignal): Promise<void> => {
  const latest = await store.coldDays.listLatestManifests(WITNESSES);
  const names = latest.map(({ day, manifestHash }) => manifestName(day, manifestHash));
  const sizes = await Promise.all(names.map((name) => objects.head(name, stop)));
  const lacking = latest.filter((_, i) => sizes[i] === null);
  const [first] = lacking;
  if (first !== undefined && lacking.length * 2 > latest.length)
    throw new ObjectStoreError(
      'unavailable',
      `the store has no manifest of ${first.day}, which was packed last: SVC_COLD must name the store that it was packed into, and that be mounted`,
    );
};

/**
 * Calls `assertSameStore` right before the database records something that depends on the store: a mount may have gone
 * since the objects were written or read. False: stopped.
 */
export const isSureOfStore = async (deps: StoreDeps, stop: AbortSignal): Promise<boolean> => {
  try {
    await assertSameStore(deps, stop);
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  return !stop.aborted;
};
