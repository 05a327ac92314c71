/** The leaves of a closed day as text: one in hex per line, in tree order (interface §Public). */
import { formatHash, hashLeaf } from '@svc/merkle';
import { nativeSha256 } from '@svc/merkle/native';
import type { ServiceDeps } from '../deps.ts';
import { internal, notFound } from '../errors.ts';
import type { CheckpointRecord, Day } from '../ports/checkpoints.ts';
import { runsOf } from './day-tree.ts';

export interface DayLeaves {
  readonly checkpoint: CheckpointRecord;
  /** Throws before its end when there are not as many receipts as the checkpoint says. */
  readonly text: AsyncIterable<string>;
}

/** Leaves asked for at once: of a cold day as many as are read at once. */
const RUN = 2_048;

export const listLeaves = async ({ store }: Pick<ServiceDeps, 'store'>, day: Day): Promise<DayLeaves> => {
  const checkpoint = await store.checkpoints.find(day);
  if (checkpoint === null) throw notFound(`${day} is not closed.`);
  const text = async function* (): AsyncGenerator<string> {
    let count = 0;
    const runs = runsOf(
      (start) => store.checkpoints.listReceiptIds(day, start, RUN),
      (receiptIds) => receiptIds,
    );
    for await (const receiptIds of runs) {
      count += receiptIds.length;
      yield receiptIds.map((receiptId) => `${formatHash(hashLeaf(receiptId, nativeSha256))}\n`).join('');
    }
    if (count !== checkpoint.treeSize)
      throw internal(`${day} has ${count} receipts, not ${checkpoint.treeSize}`);
  };
  return { checkpoint, text: text() };
};
