/**
 * The thread that reads row groups for a process that answers requests. It loads only the decoding code, so it starts
 * in tens of milliseconds.
 */
import { serialize } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { type FetchedGroup, groupReader, type Texts, type Wanted } from '@svc/cold-ledger/read-group';

export interface ReadTask {
  readonly id: number;
  readonly group: FetchedGroup;
  readonly wanted: Wanted;
}

/**
 * `found`: a `ColumnBatch` without the texts, serialized, so that the receiver decides when its thread deserializes it.
 */
export type ReadOutcome =
  | { readonly id: number; readonly found: Uint8Array; readonly texts: Texts | null }
  | { readonly id: number; readonly problem: string };

/** The whole work of a program that was started as such a thread. */
export const runReadThread = (): void => {
  const read = groupReader();
  let last: Promise<void> = Promise.resolve();
  // One group at a time: two would take more memory without being faster.
  parentPort?.on('message', ({ id, group, wanted }: ReadTask) => {
    last = last
      .then(async () => {
        const { texts, ...columns } = await read(group, wanted);
        const found = serialize(columns);
        const handedOver = [found.buffer as ArrayBuffer, ...(texts === null ? [] : [texts.bytes.buffer])];
        answer({ id, found, texts }, handedOver);
      })
      .catch((error: unknown) =>
        answer({ id, problem: error instanceof Error ? error.message : String(error) }),
      );
  });
};

const answer = (outcome: ReadOutcome, handedOver: readonly ArrayBuffer[] = []): void =>
  parentPort?.postMessage(outcome, handedOver);
