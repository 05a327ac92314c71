/**
 * Manifests of a packed day in the store: whoever reads its objects without the database goes by them
 * (docs/ledger-format.md). The one that is recorded is there, none that the service has not signed, none of another
 * day, and none that would be taken instead of the recorded one, but what a packer leaves that was cut off or
 * overtaken: it is of the same checkpoint, takes the place of the recorded one or the same place as that, and has the
 * same Receipts, cleared where they are old enough; it has the attestations and consumption events of the recorded one,
 * and others of the database. Rejects where the store does not answer, which is no fault of what is in it.
 */
import {
  type ColdDay,
  ColdDayReader,
  clearActions,
  differenceOf,
  digestReceipts,
  findDayProblem,
  isOfWhatIsStored,
  manifestFolder,
  manifestName,
  namesBelow,
} from '@svc/cold-ledger';
import type { Sha256 } from '@svc/protocol';
import { type CheckpointRecord, messageOf, type ObjectStore, ObjectStoreError } from '@svc/service';
import type { CheckContext } from '../check.ts';
import { BESIDE_RECEIPTS, type BesideReceipts, comparePacked, placeOf } from './cold-facts.ts';
import { manifestReaderOf } from './read-manifest.ts';

/** What the database has of a packed day. */
export interface RecordedDay extends Pick<CheckpointRecord, 'day' | 'hash' | 'root' | 'contentRoot'> {
  readonly manifestHash: Sha256;
  /** Its action fields are to be cleared, or are. */
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
      // A reader without the database takes it instead of the recorded one.
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

const PUBLISHED = ['checkpoint_hash', 'tree_size', 'root', 'content_root'] as const;

/** Why no packer can have left `found`; null: one can. */
const findProblem = async (
  context: CheckContext,
  objects: ObjectStore,
  recorded: RecordedDay,
  current: ColdDay,
  found: ColdDay,
): Promise<string | null> => {
  if (PUBLISHED.some((member) => found[member] !== current[member])) return 'it is of another checkpoint';
  const isNext = found.replaces === recorded.manifestHash;
  if (!isNext && found.replaces !== current.replaces)
    return 'it replaces neither the recorded one nor what that replaces';
  if (JSON.stringify(found.tables) === JSON.stringify(current.tables)) return null;
  const problem = await findDayProblem(objects, found, recorded);
  if (problem !== null) return problem;
  const were = new ColdDayReader(objects, current);
  const are = new ColdDayReader(objects, found);
  if (!(await hasReceipts(were, are, isNext && recorded.isOld)))
    return 'its Receipts differ from the recorded ones';
  for (const table of BESIDE_RECEIPTS)
    if (!(await hasRows(were, are, table))) return `it lacks ${table} that the recorded one has`;
  let first: string | null = null;
  const report = (_: string, differs: string) => {
    first ??= differs;
  };
  await comparePacked({ ...context, report }, objects, found);
  return first;
};

/** Whether the Receipts are the same row by row, or those cleared. */
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

/** Whether all that were there are there: both are in the same order. */
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
