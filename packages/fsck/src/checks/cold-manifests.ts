/**
 * Checks the manifests of a packed day in the store, by which readers without the database find its objects
 * (docs/ledger-format.md):
 *
 * - the recorded manifest is there;
 * - every manifest is signed by the service and is of this day;
 * - no reader would take another manifest instead of the recorded one, except one that an interrupted or overtaken
 *   packer can have left.
 *
 * A packer can have left a manifest if it is of the same checkpoint, and replaces the recorded one or what that
 * replaces. Its Receipts must be the same, or cleared if they are old enough. It must have all attestations and
 * consumption events of the recorded one; others must be in the database. A manifest of a retracted checkpoint is not a
 * fault either.
 *
 * Rejects if the store does not answer, since that is not a fault of its contents.
 */
import {
  type ColdDay,
  ColdDayReader,
  clearActions,
  differenceOf,
  digestReceipts,
  isOfWhatIsStored,
  manifestFolder,
  manifestName,
  namesBelow,
} from '@svc/cold-ledger';
import type { Sha256 } from '@svc/protocol';
import { type CheckpointRecord, messageOf, type ObjectStore, ObjectStoreError } from '@svc/service';
import type { CheckContext } from '../check.ts';
import { BESIDE_RECEIPTS, type BesideReceipts, placeOf } from './cold-facts.ts';
import { findLeftProblem } from './left-manifest.ts';
import { manifestReaderOf } from './read-manifest.ts';

/** The record of a packed day in the database. */
export interface RecordedDay extends Pick<CheckpointRecord, 'day' | 'hash' | 'root' | 'contentRoot'> {
  readonly manifestHash: Sha256;
  /** Whether the day's action fields are due to be cleared, or have been. */
  readonly isOld: boolean;
}

const HASHES = `
  select 'former' as what, manifest_hash as hash from cold_manifests where day = $1
  union all select 'retracted', hash from retracted_checkpoints where day = $1`;

export const checkManifests = async (
  context: CheckContext,
  objects: ObjectStore,
  recorded: RecordedDay,
  current: ColdDay,
): Promise<void> => {
  const { day } = current;
  const hashes = await context.query<{ what: 'former' | 'retracted'; hash: Sha256 }>(HASHES, [day]);
  const hashesOf = (kind: string) => hashes.filter(({ what }) => what === kind).map(({ hash }) => hash);
  const formers = new Set(hashesOf('former').map((hash) => manifestName(day, hash)));
  const retracted = new Set(hashesOf('retracted'));
  const read = manifestReaderOf(context);
  const own = manifestName(day, recorded.manifestHash);
  let isThere = false;
  for await (const name of namesBelow(objects, manifestFolder(day))) {
    isThere ||= name === own;
    if (formers.has(name)) continue;
    try {
      const text = Buffer.from(await objects.get(name)).toString();
      if (name === own) continue;
      const found = read(text);
      if (found.day !== day) throw new Error(`it is the manifest of ${found.day}`);
      // A reader without the database would take it instead of the recorded one.
      const isTaken = found.iat >= current.iat || found.replaces === recorded.manifestHash;
      if (!isTaken) continue;
      const isRetracted = retracted.has(found.checkpoint_hash);
      const problem = isRetracted ? null : await findProblem(context, objects, recorded, current, found);
      if (problem !== null) throw new Error(problem);
      context.note(
        `${day}: ${name} is signed by the service, and is not the manifest that is recorded: ${isRetracted ? 'it is of a checkpoint that was retracted' : 'a packer left it that was cut off or overtaken'}`,
      );
    } catch (error) {
      if (error instanceof ObjectStoreError && !isOfWhatIsStored(error)) throw error;
      context.report(day, `the manifest ${name} in the store: ${messageOf(error)}`);
    }
  }
  if (!isThere) context.report(day, `its manifest is not in the store, as ${own}`);
};

/** Why no packer can have left `found`; null if one can. */
const findProblem = async (
  context: CheckContext,
  objects: ObjectStore,
  recorded: RecordedDay,
  current: ColdDay,
  found: ColdDay,
): Promise<string | null> => {
  const isNext = found.replaces === recorded.manifestHash;
  if (!isNext && found.replaces !== current.replaces)
    return 'it replaces neither the recorded one nor what that replaces';
  return findLeftProblem(context, objects, found, {
    published: { ...recorded, treeSize: current.tree_size },
    tables: current.tables,
    findDifference: async () => {
      const were = new ColdDayReader(objects, current);
      const are = new ColdDayReader(objects, found);
      if (!(await hasReceipts(were, are, isNext && recorded.isOld)))
        return 'its Receipts differ from the recorded ones';
      for (const table of BESIDE_RECEIPTS)
        if (!(await hasRows(were, are, table))) return `it lacks ${table} that the recorded one has`;
      return null;
    },
  });
};

/** Whether the Receipts are the same row by row, or the same after clearing. */
const hasReceipts = async (
  were: ColdDayReader,
  are: ColdDayReader,
  mayBeCleared: boolean,
): Promise<boolean> => {
  const digests = await digestReceipts(are.receipts());
  for (const formOf of mayBeCleared ? [undefined, clearActions] : [undefined])
    if (differenceOf(await digestReceipts(were.receipts(), formOf), digests) === null) return true;
  return false;
};

/** Whether `are` has all rows of `were`; both are in the same order. */
const hasRows = async (were: ColdDayReader, are: ColdDayReader, table: BesideReceipts): Promise<boolean> => {
  const places = placesOf(are, table);
  for await (const place of placesOf(were, table))
    for (;;) {
      const { done, value } = await places.next();
      if (done) return false;
      if (value === place) break;
    }
  return true;
};

async function* placesOf(reader: ColdDayReader, table: BesideReceipts): AsyncGenerator<string, void> {
  for await (const rows of reader.rows(table)) for (const row of rows) yield placeOf(table, row);
}
