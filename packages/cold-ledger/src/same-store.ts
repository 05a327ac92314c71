/** Whether the store is the one that days were packed into before: another one is nothing to record, detach or drop by. */
import { type ObjectStore, ObjectStoreError, type ServiceDeps } from '@svc/service';
import { manifestName } from './store-manifest.ts';

interface StoreDeps {
  readonly objects: Pick<ObjectStore, 'head'>;
  readonly store: { readonly coldDays: Pick<ServiceDeps['store']['coldDays'], 'listLatestManifests'> };
}

/** How many of the latest manifests are looked for; one of them may be gone for a reason of its own. */
const WITNESSES = 3;

/**
 * Rejects where more than half of what was recorded last is not in the store: another folder or bucket than before, or
 * one that is not mounted. What was packed into it would be nowhere once the right one is back.
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
 * `assertSameStore`, right before what rests on the store is written into the database: a mount may have gone since the
 * objects were written or read. False: stopped.
 */
export const isSureOfStore = async (deps: StoreDeps, stop: AbortSignal): Promise<boolean> => {
  try {
    await assertSameStore(deps, stop);
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  return !stop.aborted;
};
