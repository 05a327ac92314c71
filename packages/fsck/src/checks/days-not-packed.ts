/**
 * Checks the folders of days without a recorded manifest, because a reader without the database would take a manifest
 * that is there (docs/ledger-format.md). A day that was brought back keeps its manifest, and is checked with the packed
 * days (cold-days.ts).
 *
 * A manifest is a fault if the service has not signed it, or it is of another day. Otherwise it is a note if one of
 * these holds, and a fault if not:
 *
 * - another manifest in the folder, of the published checkpoint, replaces it, so that no reader takes it;
 * - it is of a retracted checkpoint, so that no reader who has the published checkpoints takes it;
 * - an interrupted packer can have left it: it is of the day's checkpoint, everything that it names is in the store,
 *   leads to the published roots and agrees with the database.
 *
 * Rejects if the store does not answer.
 */
import { type ColdDay, hashOfManifest, isOfWhatIsStored, manifestFolder, namesBelow } from '@svc/cold-ledger';
import type { Sha256 } from '@svc/protocol';
import { type CheckpointRecord, messageOf, type ObjectStore, ObjectStoreError } from '@svc/service';
import type { Check, CheckContext } from '../check.ts';
import { findLeftProblem, firstOf } from './left-manifest.ts';
import { compareListed } from './listed-receipts.ts';
import { manifestReaderOf } from './read-manifest.ts';

/** Includes future days up to the latest checkpoint: a clock that was ahead may have caused them to be packed. */
const DAYS = `
  select d::date as day
  from deployment, generate_series(first_day::timestamp, greatest(svc_now() at time zone 'UTC',
    (select max(day) from checkpoints)::timestamp, (select max(day) from retracted_checkpoints)::timestamp), interval '1 day') as d
  where not exists (select from cold_days as c where c.day = d::date and c.manifest is not null)`;

export const daysNotPackedCheck = (objects: ObjectStore): Check => ({
  name: 'days not packed',
  promise: 'in the store no day that is not packed has a manifest, but what a packer leaves that was cut off',
  countSql: `select count(*) from (${DAYS}) as d`,
  async run(context) {
    const days = await context.query<{ day: string }>(`select day::text from (${DAYS}) as d order by d.day`);
    for (const { day } of days) {
      await checkFolder(context, objects, day);
      context.advance(1);
    }
  },
});

/** What is kept in memory of a manifest while the others are read. */
interface Left extends Pick<ColdDay, 'checkpoint_hash' | 'replaces'> {
  readonly name: string;
  readonly hash: Sha256;
}

const checkFolder = async (context: CheckContext, objects: ObjectStore, day: string): Promise<void> => {
  const all: Left[] = [];
  for await (const name of namesBelow(objects, manifestFolder(day)))
    await onManifest(context, day, name, async () => {
      const { hash, manifest } = await read(context, objects, day, name);
      all.push({ name, hash, checkpoint_hash: manifest.checkpoint_hash, replaces: manifest.replaces });
    });
  if (all.length === 0) return;
  const published = await publishedOf(context, day);
  const current = all.filter((left) => left.checkpoint_hash === published.hash);
  const replaced = new Set(current.map(({ replaces }) => replaces));
  for (const left of all)
    await onManifest(context, day, left.name, async () => {
      const reason = replaced.has(left.hash)
        ? 'another one there replaces it'
        : await reasonOf(context, objects, published, left);
      context.note(
        `${day}: ${left.name} is signed by the service, and no manifest of the day is recorded: ${reason}`,
      );
    });
};

/** Reports faults of the manifest, or of what it names, that `work` finds. */
const onManifest = async (
  { report }: CheckContext,
  day: string,
  name: string,
  work: () => Promise<void>,
): Promise<void> => {
  try {
    await work();
  } catch (error) {
    const isFault =
      error instanceof FaultError || (error instanceof ObjectStoreError && isOfWhatIsStored(error));
    if (!isFault) throw error;
    report(day, `the manifest ${name} in the store: ${error.message}`);
  }
};

class FaultError extends Error {
  override readonly name = 'FaultError';
}

const read = async (
  context: CheckContext,
  objects: ObjectStore,
  day: string,
  name: string,
): Promise<{ readonly hash: Sha256; readonly manifest: ColdDay }> => {
  const bytes = await objects.get(name);
  const manifest = verified(context, Buffer.from(bytes).toString());
  if (manifest.day !== day) throw new FaultError(`it is the manifest of ${manifest.day}`);
  return { hash: hashOfManifest(bytes), manifest };
};

const verified = (context: CheckContext, text: string): ColdDay => {
  try {
    return manifestReaderOf(context)(text);
  } catch (error) {
    throw new FaultError(messageOf(error));
  }
};

interface Published extends Pick<CheckpointRecord, 'day' | 'root' | 'contentRoot' | 'treeSize'> {
  /** Null if the day has no checkpoint. */
  readonly hash: Sha256 | null;
  readonly retracted: readonly Sha256[];
  /** Whether the day's action fields are due to be cleared, or have been. */
  readonly isOld: boolean;
}

const PUBLISHED = `
  select d.day::text as day, hash, root, content_root as "contentRoot", tree_size::float8 as "treeSize",
    array(select r.hash from retracted_checkpoints as r where r.day = d.day) as retracted,
    (d.day + 1)::timestamp at time zone 'UTC' <= svc_actions_kept_since() as "isOld"
  from (select $1::date as day) as d left join checkpoints using (day)`;

const publishedOf = async ({ query }: CheckContext, day: string): Promise<Published> => {
  const [row] = await query<Published>(PUBLISHED, [day]);
  if (row === undefined) throw new Error(`nothing was answered about ${day}`);
  return row;
};

/** Why the manifest may be there. Rejects with `FaultError` if it may not. */
const reasonOf = async (
  context: CheckContext,
  objects: ObjectStore,
  published: Published,
  { name, checkpoint_hash: hash }: Left,
): Promise<string> => {
  if (published.retracted.includes(hash)) return 'it is of a checkpoint that was retracted';
  const { manifest } = await read(context, objects, published.day, name);
  const problem = await findProblem(context, objects, published, manifest);
  if (problem !== null) throw new FaultError(problem);
  return 'a packer left it that was cut off';
};

const findProblem = async (
  context: CheckContext,
  objects: ObjectStore,
  { hash, isOld, ...published }: Published,
  manifest: ColdDay,
): Promise<string | null> =>
  hash === null
    ? 'the day has no checkpoint'
    : findLeftProblem(context, objects, manifest, {
        published: { ...published, hash },
        tables: null,
        findDifference: () => firstOf(context, (noting) => compareListed(noting, objects, manifest, isOld)),
      });
