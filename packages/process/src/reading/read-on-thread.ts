/** Row groups of cold days are decoded on one thread beside that of the process, which answers others meanwhile. */
import { Worker } from 'node:worker_threads';
import type { FetchedGroup, FoundColumns, ReadGroup, Wanted } from '@svc/cold-ledger';
import { ObjectStoreError } from '@svc/service';
import type { ReadOutcome, ReadTask } from './read-thread.ts';

/** A row group, its rows, what is made of them, and what is remembered of objects. Buffers come beside it. */
const LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32 };

/** Of all that were handed over before it and itself. They take some ten milliseconds each, and there are eight. */
const ANSWER_MS = 15_000;

export interface ReadingThread {
  /** Rejects with `ObjectStoreError` where the thread ends, or does not answer; the next group is read on a new one. */
  readonly read: ReadGroup;
  close(): Promise<void>;
}

/** `program`: the file that runs `runReadThread`. The thread is started at once, so that the first to ask does not wait for it. */
export const readOnThread = (program: URL, answerMs = ANSWER_MS): ReadingThread => {
  let thread: Thread | null = new Thread(program);
  let isClosed = false;
  return {
    read: async (group, wanted) => {
      if (isClosed) throw new ObjectStoreError('unavailable', 'this process is ending');
      if (thread === null || thread.hasEnded) thread = new Thread(program);
      return thread.read(group, wanted, answerMs);
    },
    async close() {
      isClosed = true;
      await thread?.end('this process is ending');
      thread = null;
    },
  };
};

interface Waiting {
  readonly resolve: (found: FoundColumns) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

class Thread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  hasEnded = false;

  constructor(program: URL) {
    this.#worker = new Worker(program, { resourceLimits: LIMITS });
    // A process that has nothing else to do ends.
    this.#worker.unref();
    this.#worker.on('message', (outcome: ReadOutcome) => this.#settle(outcome));
    this.#worker.on('error', (error: Error) => void this.end(error.message));
    this.#worker.on('exit', () => void this.end('it ended'));
  }

  read(group: FetchedGroup, wanted: Wanted, answerMs: number): Promise<FoundColumns> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const timer = setTimeout(() => void this.end(`no answer within ${answerMs} ms`), answerMs);
      this.#waiting.set(id, { resolve, reject, timer });
      // Of its own: what is handed over with a part of a buffer is all of it.
      const bytes = new Uint8Array(group.group);
      const task: ReadTask = {
        id,
        group: { ...group, group: bytes, tail: new Uint8Array(group.tail) },
        wanted,
      };
      this.#worker.postMessage(task, [bytes.buffer]);
    });
  }

  /** Once; who waits for it is told why. */
  async end(why: string): Promise<void> {
    if (this.hasEnded) return;
    this.hasEnded = true;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new ObjectStoreError('unavailable', `the thread that reads cold days: ${why}`));
    }
    this.#waiting.clear();
    await this.#worker.terminate();
  }

  #settle(outcome: ReadOutcome): void {
    const waiting = this.#waiting.get(outcome.id);
    if (waiting === undefined) return;
    this.#waiting.delete(outcome.id);
    clearTimeout(waiting.timer);
    if ('found' in outcome) waiting.resolve(outcome.found);
    else waiting.reject(new Error(outcome.problem));
  }
}
