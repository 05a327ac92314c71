/**
 * The thread that reads row groups for a process that answers others. It loads what decodes them and nothing else, so it is started in
 * tens of milliseconds.
 */
import { parentPort } from 'node:worker_threads';
import { type FetchedGroup, type FoundColumns, groupReader, type Wanted } from '@svc/cold-ledger/read-group';

export interface ReadTask {
  readonly id: number;
  readonly group: FetchedGroup;
  readonly wanted: Wanted;
}

export type ReadOutcome =
  | { readonly id: number; readonly found: FoundColumns }
  | { readonly id: number; readonly problem: string };

/** What the program does that was started as such a thread, and nothing else. */
export const runReadThread = (): void => {
  const read = groupReader();
  let last: Promise<void> = Promise.resolve();
  // One at a time: two would only be in memory together.
  parentPort?.on('message', (task: ReadTask) => {
    last = last.then(async () => parentPort?.postMessage(await outcomeOf(read, task)));
  });
};

const outcomeOf = async (
  read: ReturnType<typeof groupReader>,
  { id, group, wanted }: ReadTask,
): Promise<ReadOutcome> => {
  try {
    return { id, found: await read(group, wanted) };
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : String(error) };
  }
};
