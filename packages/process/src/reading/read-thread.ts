/**
 * The thread that reads row groups for a process that answers others. It loads what decodes them and nothing else, so it is started in
 * tens of milliseconds.
 */
import { serialize } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { type FetchedGroup, groupReader, type Wanted } from '@svc/cold-ledger/read-group';

export interface ReadTask {
  readonly id: number;
  readonly group: FetchedGroup;
  readonly wanted: Wanted;
}

/** `found`: `FoundColumns`, serialized, so that whoever waits for them decides when his thread makes objects of it. */
export type ReadOutcome =
  | { readonly id: number; readonly found: Uint8Array }
  | { readonly id: number; readonly problem: string };

/** What the program does that was started as such a thread, and nothing else. */
export const runReadThread = (): void => {
  const read = groupReader();
  let last: Promise<void> = Promise.resolve();
  // One at a time: two would only be in memory together.
  parentPort?.on('message', ({ id, group, wanted }: ReadTask) => {
    last = last
      .then(async () => {
        const found = serialize(await read(group, wanted));
        answer({ id, found }, [found.buffer as ArrayBuffer]);
      })
      .catch((error: unknown) =>
        answer({ id, problem: error instanceof Error ? error.message : String(error) }),
      );
  });
};

const answer = (outcome: ReadOutcome, handedOver: readonly ArrayBuffer[] = []): void =>
  parentPort?.postMessage(outcome, handedOver);
