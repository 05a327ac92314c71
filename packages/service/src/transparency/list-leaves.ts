/**
 * The leaves of a closed day as text: one in hex per line, in tree order (interface §Public). An API node makes them
 * while it verifies, so the event loop is released before each part.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatHash, hashLeaf } from '@svc/merkle';
import { nativeSha256 } from '@svc/merkle/native';
import type { ReceiptId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { internal, notFound } from '../errors.ts';
import type { CheckpointRecord, Day } from '../ports/checkpoints.ts';
import { runsOf, WITHOUT_PAUSE } from './day-tree.ts';
import { isReinstated } from './reinstated-days.ts';

export interface DayLeaves {
  readonly checkpoint: CheckpointRecord;
  /**
   * Throws before its end when the number of receipts differs from the checkpoint's, unless a restore put the day back.
   */
  readonly text: AsyncIterable<string>;
}

/** Leaves read at once: as many as a row group of a cold day has. */
const RUN = 2_048;

/** `NOT_FOUND` for a day that is not closed. */
export const listLeaves = async (deps: Pick<ServiceDeps, 'store'>, day: Day): Promise<DayLeaves> => {
  const { store } = deps;
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
      for (let at = 0; at < receiptIds.length; at += WITHOUT_PAUSE) {
        await nextTurn();
        yield receiptIds
          .slice(at, at + WITHOUT_PAUSE)
          .map(lineOf)
          .join('');
      }
    }
    if (count !== checkpoint.treeSize && !(await isReinstated(deps, day)))
      throw internal(`${day} has ${count} receipts, not ${checkpoint.treeSize}`);
  };
  return { checkpoint, text: text() };
};

const lineOf = (receiptId: ReceiptId): string => `${formatHash(hashLeaf(receiptId, nativeSha256))}\n`;
