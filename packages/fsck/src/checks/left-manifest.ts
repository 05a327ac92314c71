/** Whether a manifest that the service has signed, and that is not recorded, is one that a packer can have left. */
import { type ColdDay, findDayProblem } from '@svc/cold-ledger';
import type { CheckpointRecord, ObjectStore } from '@svc/service';
import type { CheckContext } from '../check.ts';
import { comparePacked } from './cold-facts.ts';

/** What a packer that left a manifest has packed. */
export interface Baseline {
  readonly published: Pick<CheckpointRecord, 'day' | 'hash' | 'root' | 'contentRoot' | 'treeSize'>;
  /** The recorded tables, which are checked elsewhere; null: none are recorded. */
  readonly tables: ColdDay['tables'] | null;
  /** How the rows of the manifest differ from those that were packed; null: not at all. */
  readonly findDifference: () => Promise<string | null>;
}

/** Why no packer can have left `found`; null if one can. */
export const findLeftProblem = async (
  context: CheckContext,
  objects: ObjectStore,
  found: ColdDay,
  { published, tables, findDifference }: Baseline,
): Promise<string | null> => {
  const { hash, root, contentRoot, treeSize } = published;
  const { checkpoint_hash: of, tree_size: size, root: ids, content_root: contents } = found;
  if (of !== hash || size !== treeSize || ids !== root || contents !== contentRoot)
    return 'it is of another checkpoint';
  if (JSON.stringify(found.tables) === JSON.stringify(tables)) return null;
  return (
    (await findDayProblem(objects, found, published)) ??
    (await findDifference()) ??
    firstOf(context, (noting) => comparePacked(noting, objects, found))
  );
};

/** The first problem that `compare` reports; null: none. */
export const firstOf = async (
  context: CheckContext,
  compare: (noting: CheckContext) => Promise<void>,
): Promise<string | null> => {
  let first: string | null = null;
  const report = (_: string, problem: string) => {
    first ??= problem;
  };
  await compare({ ...context, report });
  return first;
};
