/**
 * Clears the action fields of packed days once they are seven years old. The Receipts are written again without them,
 * under a manifest that replaces the one before (docs/decisions/0093-a-packed-day-is-cleared.md). If it is cut off
 * anywhere, the day is still read as before, and the next round finds the objects or the manifest that were left.
 */
import { type JsonObject, jcs } from '@svc/protocol';
import {
  type CheckpointRecord,
  type ColdManifest,
  type Day,
  messageOf,
  type ObjectName,
  type ObjectStore,
  ObjectStoreError,
} from '@svc/service';
import { isOfWhatIsStored } from './find-day-problem.ts';
import { assertSure, isProven, type LeaveDeps, MAX_DAYS, onDay, until } from './leave-days.ts';
import { type ColdDay, parseColdDay } from './manifest.ts';
import { readRecordedDay, workOf } from './prove-day.ts';
import { manifestReader, type ReadManifest } from './read-manifest.ts';
import { isSureOfStore } from './same-store.ts';
import { hashOfManifest, manifestFolder, manifestName, problemOf, storeManifest } from './store-manifest.ts';
import { namesBelow } from './stored-names.ts';

/** Each Receipt is written, so that a step takes a fraction of a second. */
const RECEIPTS_PER_STEP = 2_000;

export interface ClearedDays {
  readonly cleared: number;
  /**
   * Days that could not be cleared, for example because their objects do not match what was published. They stay as
   * they are, and the others go on.
   */
  readonly notProven: readonly Day[];
}

/**
 * A day that fails is noted with the reason and tried again an hour later. Rejects if the object store or the database
 * does not answer.
 */
export const clearDays = async (deps: LeaveDeps, stop: AbortSignal): Promise<ClearedDays> => {
  const { clock, log, store } = deps;
  const notProven: Day[] = [];
  let cleared = 0;
  for (const day of await store.coldDays.listToClear(clock.nowMs(), MAX_DAYS)) {
    if (stop.aborted) break;
    await assertSure(deps);
    const work = () => clearDay(deps, day, stop);
    const outcome = await onDay(deps, [day, 'it could not be cleared'], notProven, stop, work);
    if (outcome === null) continue;
    if (typeof outcome === 'boolean') cleared += Number(outcome);
    else {
      if (!(await isSureOfStore(deps, stop))) break;
      log.error('cold.not_proven', { day, ...outcome });
      await store.coldDays.noteFailure(day, outcome.problem);
      notProven.push(day);
    }
  }
  return { cleared, notProven };
};

interface Source {
  readonly recorded: ColdManifest;
  readonly day: ColdDay;
}

/** False: stopped, or another node was faster. */
const clearDay = async (
  deps: LeaveDeps,
  day: Day,
  stop: AbortSignal,
): Promise<boolean | { readonly problem: string }> => {
  const { clock, log, store } = deps;
  const { recorded, published } = await readRecordedDay(store, day);
  let next: ColdManifest;
  try {
    const found = await writeCleared(deps, recorded, published, stop);
    if ('problem' in found) return found;
    next = found;
  } catch (error) {
    if (stop.aborted) return false;
    throw error;
  }
  if (!(await isSureOfStore(deps, stop))) return false;
  while (!stop.aborted && !(await store.coldDays.clearTable(day, RECEIPTS_PER_STEP, clock.nowMs())));
  if (!(await isSureOfStore(deps, stop))) return false;
  const nowMs = clock.nowMs();
  const isCleared = async () => !(await store.coldDays.listToClear(nowMs, MAX_DAYS)).includes(day);
  if (!(await until(isCleared, () => store.coldDays.recordCleared(day, next, nowMs)))) return false;
  log.info('cold.cleared', { day, receipts: published.treeSize, manifestHash: next.manifestHash });
  return true;
};

/** The manifest of stored objects that match what was published and have no action fields; or the problem. */
const writeCleared = async (
  deps: LeaveDeps,
  recorded: ColdManifest,
  published: CheckpointRecord,
  stop: AbortSignal,
): Promise<ColdManifest | { readonly problem: string }> => {
  const read = manifestReader(deps.identity, deps.crypto);
  let current: Source;
  try {
    current = { recorded, day: read(recorded.manifest) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
  let problem = '';
  for (const { recorded: source, day } of [...(await findSuccessors(deps, current, read, stop)), current]) {
    const packed = await workOf(deps)
      .clear(day, stop)
      .catch((error: unknown) => {
        if (error instanceof ObjectStoreError && isOfWhatIsStored(error)) return error.message;
        throw error;
      });
    problem = typeof packed === 'string' ? packed : (problemOf(packed, published) ?? '');
    if (typeof packed === 'string' || problem !== '') continue;
    const { tables } = packed;
    // There was nothing to clear: the same rows give the same objects.
    if (isSame(tables, day.tables)) return source;
    return await storeManifest(deps, published, { tables, replaces: recorded.manifestHash }, stop);
  }
  return { problem };
};

const isSame = (some: ColdDay['tables'], others: ColdDay['tables']): boolean => {
  const [one, other] = [some, others].map((tables) => jcs(tables as unknown as JsonObject));
  return one === other;
};

interface StoredManifest {
  readonly name: string;
  readonly recorded: ColdManifest;
  readonly day: ColdDay;
}

/** The manifests in the folder of a day that the service has signed. */
async function* readFolder(
  { objects }: Pick<LeaveDeps, 'objects'>,
  of: Day,
  read: ReadManifest,
  stop: AbortSignal,
  isWanted: (name: string) => boolean = () => true,
): AsyncGenerator<StoredManifest> {
  for await (const name of namesBelow(objects, manifestFolder(of), stop)) {
    if (!isWanted(name)) continue;
    const bytes = await objects.get(name, stop).catch((error: unknown) => {
      if (error instanceof ObjectStoreError && isOfWhatIsStored(error)) return Buffer.alloc(0);
      throw error;
    });
    const manifest = Buffer.from(bytes).toString();
    const day = readOrNull(read, manifest);
    if (day !== null) yield { name, recorded: { manifest, manifestHash: hashOfManifest(bytes) }, day };
  }
}

/**
 * Manifests in the store that replace the recorded one and have the same other tables. Such a manifest comes from a
 * packer that was cut off before it recorded it, or from before the database was set back. In the second case the
 * objects of the recorded manifest may have been deleted.
 */
const findSuccessors = async (
  deps: LeaveDeps,
  { recorded, day: current }: Source,
  read: ReadManifest,
  stop: AbortSignal,
): Promise<Source[]> => {
  const found: Source[] = [];
  for await (const one of readFolder(deps, current.day, read, stop))
    if (
      one.day.replaces === recorded.manifestHash &&
      one.day.checkpoint_hash === current.checkpoint_hash &&
      isSame({ ...one.day.tables, receipts: [] }, { ...current.tables, receipts: [] })
    )
      found.push({ recorded: one.recorded, day: one.day });
  return found;
};

/**
 * Objects that are named by manifests which this database has never recorded; each with one such manifest. If this
 * database is a copy of another one, or the reverse, the other one may have the same store and depend on these
 * manifests.
 */
const findForeign = async (
  deps: LeaveDeps,
  day: Day,
  known: readonly ColdManifest[],
  read: ReadManifest,
  stop: AbortSignal,
): Promise<ReadonlyMap<string, string>> => {
  const own = new Set(known.map(({ manifestHash }) => manifestName(day, manifestHash)));
  const foreign = new Map<string, string>();
  for await (const { name, recorded } of readFolder(deps, day, read, stop, (one) => !own.has(one)))
    for (const object of namesOf(recorded.manifest)) foreign.set(object, name);
  return foreign;
};

const readOrNull = (read: ReadManifest, manifest: string): ColdDay | null => {
  try {
    return read(manifest);
  } catch {
    return null;
  }
};

/** Every object that a manifest names, whoever signed it. */
const namesOf = (manifest: string): string[] =>
  Object.values(parseColdDay(manifest).tables)
    .flat()
    .map(({ name }) => name);

/**
 * Checks the deletion: if the store reports an object as deleted and still has it, no later round would look for it.
 */
const deleteForGood = async (
  objects: Pick<ObjectStore, 'delete' | 'head'>,
  name: ObjectName,
  stop: AbortSignal,
): Promise<void> => {
  await objects.delete(name, stop);
  if ((await objects.head(name, stop)) !== null) throw new Error(`${name} is still there after its deletion`);
};

const NOT_DELETED = 'what its former manifest names could not be deleted';

class NamedElsewhereError extends Error {
  constructor(count: number, manifest: string | undefined) {
    super(
      `${count} of these objects are named by ${manifest}, which the service has signed and this database has never recorded: another database may have this store, or a packer left it that was cut off`,
    );
  }
}

/**
 * Deletes the objects that only replaced manifests of the service name. It waits until the grace period since the
 * replacement is over and the day was proven from its present objects again. It keeps objects that are named by a
 * manifest in the store which this database does not know.
 *
 * Resolves with the number of deleted objects, and with two kinds of days that are tried again an hour later: days that
 * were not proven, of which nothing is deleted, and days of which some object could not be deleted.
 */
export const deleteReplaced = async (
  deps: LeaveDeps,
  stop: AbortSignal,
): Promise<{ readonly deleted: number; readonly notProven: readonly Day[] }> => {
  const { clock, graceDays, log, objects, store } = deps;
  const nowMs = clock.nowMs();
  const read = manifestReader(deps.identity, deps.crypto);
  const notProven: Day[] = [];
  let deleted = 0;
  const formers = stop.aborted ? [] : await store.coldDays.listToPurge(graceDays, nowMs, MAX_DAYS);
  for (const { day, manifestHash } of formers) {
    if (stop.aborted) break;
    if (notProven.includes(day) || !(await isProven(deps, day, notProven, stop, { isCopied: true })))
      continue;
    const count = await onDay(deps, [day, NOT_DELETED], notProven, stop, async () => {
      const manifests = await store.coldDays.listManifests(day);
      const others = manifests.filter(
        (other) => !other.isPurged && (other.isCurrent || other.manifestHash !== manifestHash),
      );
      const named = new Set(others.flatMap((other) => namesOf(other.manifest)));
      const former = manifests.find((one) => one.manifestHash === manifestHash && !one.isPurged);
      // Another node was faster.
      if (former === undefined) return 0;
      const names = readOrNull(read, former.manifest) === null ? [] : namesOf(former.manifest);
      const unnamed = names.filter((name) => !named.has(name));
      try {
        const foreign = await findForeign(deps, day, manifests, read, stop);
        // In another store the folder would prove nothing, and deletions would have no effect.
        if (!(await isSureOfStore(deps, stop))) return 0;
        const kept = unnamed.filter((name) => foreign.has(name));
        for (const name of unnamed) if (!foreign.has(name)) await deleteForGood(objects, name, stop);
        const [first] = kept;
        if (first !== undefined) throw new NamedElsewhereError(kept.length, foreign.get(first));
      } catch (error) {
        if (stop.aborted) return 0;
        throw error;
      }
      if (!(await store.coldDays.notePurged(manifestHash, graceDays, nowMs))) return 0;
      log.info('cold.deleted', { day, objects: unnamed.length, manifestHash });
      return unnamed.length;
    });
    deleted += count ?? 0;
  }
  return { deleted, notProven };
};
