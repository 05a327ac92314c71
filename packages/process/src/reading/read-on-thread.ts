/** Row groups of cold days are decoded on one thread beside that of the process, which answers others meanwhile. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deserialize } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { FetchedGroup, ReadElsewhere, SealedColumns, Wanted } from '@svc/cold-ledger';
import { messageOf, ObjectStoreError } from '@svc/service';
import type { ReadOutcome, ReadTask } from './read-thread.ts';

/**
 * A row group, its rows, what is made of them, and what is remembered of objects. Buffers come beside it.
 * `--max-old-space-size` in NODE_OPTIONS takes its place.
 */
const LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32 };

/** Milliseconds for a group and the few that were handed over before it, of some ten milliseconds each. */
const ANSWER_MS = 15_000;

/** One that has failed is not started again at once, whoever asks. */
const REST_MS = 1_000;

export interface ReadingOptions {
  readonly answerMs?: number;
  readonly restMs?: number;
  /** Hears of each thread that ended although nobody wanted it. */
  readonly onEnd?: (why: string) => void;
}

export interface ReadingThread {
  /**
   * Rejects with `ObjectStoreError` where there is no thread, or it ends, or does not answer; a later group is read on
   * a new one.
   */
  readonly read: ReadElsewhere;
  close(): Promise<void>;
}

/**
 * `program`: the file that runs `runReadThread`. The thread is started at once, so that the first to ask does not wait
 * for it.
 */
export const readOnThread = (
  program: URL,
  { answerMs = ANSWER_MS, restMs = REST_MS, onEnd = () => {} }: ReadingOptions = {},
): ReadingThread => {
  let isClosed = false;
  let thread: Thread | null = null;
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  const fail = (why: string): void => {
    thread = null;
    if (isClosed) return;
    restsUntilMs = performance.now() + restMs;
    onEnd(why);
  };
  const start = (): void => {
    try {
      thread = new Thread(program, answerMs, fail);
    } catch (error) {
      // Where the system has no thread to give.
      fail(messageOf(error));
    }
  };
  start();
  return {
    read: async (group, wanted) => {
      if (isClosed) throw unavailable('this process is ending');
      if (thread === null && performance.now() >= restsUntilMs) start();
      if (thread === null) throw unavailable('it has just ended');
      return thread.read(group, wanted);
    },
    async close() {
      isClosed = true;
      await thread?.end('this process is ending');
    },
  };
};

const unavailable = (why: string): ObjectStoreError =>
  new ObjectStoreError('unavailable', `the thread that reads cold days: ${why}`);

interface Waiting {
  readonly resolve: (found: SealedColumns) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

class Thread {
  readonly #worker: Worker;
  readonly #answerMs: number;
  readonly #onEnd: (why: string) => void;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #hasEnded = false;

  /** Throws where there is none to be had. */
  constructor(program: URL, answerMs: number, onEnd: (why: string) => void) {
    this.#answerMs = answerMs;
    this.#onEnd = onEnd;
    this.#worker = new Worker(program, { resourceLimits: LIMITS });
    // A process that has nothing else to do ends.
    this.#worker.unref();
    this.#worker.on('message', (outcome: ReadOutcome) => this.#settle(outcome));
    for (const event of ['error', 'messageerror'])
      this.#worker.on(event, (error: Error) => void this.end(error.message));
    this.#worker.on('exit', () => void this.end('it ended'));
  }

  read(group: FetchedGroup, wanted: Wanted): Promise<SealedColumns> {
    const id = ++this.#lastId;
    // Both are copied, since handing over a part of a buffer hands over all of it.
    const [bytes, tail] = [new Uint8Array(group.group), new Uint8Array(group.tail)];
    const task: ReadTask = { id, group: { ...group, group: bytes, tail }, wanted };
    this.#worker.postMessage(task, [bytes.buffer, tail.buffer]);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => void this.#giveUp(id), this.#answerMs);
      this.#waiting.set(id, { resolve, reject, timer });
    });
  }

  /** Ends the thread; what waits for it is rejected with `why`. */
  async end(why: string): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd(why);
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(unavailable(why));
    }
    this.#waiting.clear();
    await this.#worker.terminate();
  }

  /** After a suspension the timer fires before a reply that already arrived. */
  async #giveUp(id: number): Promise<void> {
    await nextTurn();
    if (this.#waiting.has(id)) await this.end(`no answer within ${this.#answerMs} ms`);
  }

  #settle(outcome: ReadOutcome): void {
    const waiting = this.#waiting.get(outcome.id);
    if (waiting === undefined) return;
    this.#waiting.delete(outcome.id);
    clearTimeout(waiting.timer);
    if ('problem' in outcome) waiting.reject(new Error(outcome.problem));
    else waiting.resolve({ open: () => ({ ...deserialize(outcome.found), texts: outcome.texts }) });
  }
}
