/**
 * Decodes row groups of cold days on one separate thread, so that the main thread can answer other requests meanwhile.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deserialize } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { FetchedGroup, ReadElsewhere, SealedColumns, Wanted } from '@svc/cold-ledger';
import { messageOf, ObjectStoreError } from '@svc/service';
import type { ReadOutcome, ReadTask } from './read-thread.ts';

/**
 * Memory for a row group, its rows, what is made of them, and the cached metadata of objects. Buffers come in addition.
 * `--max-old-space-size` in NODE_OPTIONS overrides it.
 */
const LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32 };

/** Milliseconds for a group and the few that were handed over before it; each takes some ten milliseconds. */
const ANSWER_MS = 15_000;

/** Milliseconds after a failure before another thread is started, whoever asks. */
const REST_MS = 1_000;

export interface ReadingOptions {
  readonly answerMs?: number;
  readonly restMs?: number;
  /** Called for each thread that ended unexpectedly. */
  readonly onEnd?: (why: string) => void;
}

export interface ReadingThread {
  /**
   * Rejects with `ObjectStoreError` if there is no thread, or if it ends or does not answer; a later group is read on a
   * new thread.
   */
  readonly read: ReadElsewhere;
  close(): Promise<void>;
}

/**
 * `program`: the file that runs `runReadThread`. The thread is started at once, so that the first read does not wait
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
      // The system could not create a thread.
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

  /** Throws if the system cannot create a thread. */
  constructor(program: URL, answerMs: number, onEnd: (why: string) => void) {
    this.#answerMs = answerMs;
    this.#onEnd = onEnd;
    this.#worker = new Worker(program, { resourceLimits: LIMITS });
    // The thread does not keep the process alive.
    this.#worker.unref();
    this.#worker.on('message', (outcome: ReadOutcome) => this.#settle(outcome));
    for (const event of ['error', 'messageerror'])
      this.#worker.on(event, (error: Error) => void this.end(error.message));
    this.#worker.on('exit', () => void this.end('it ended'));
  }

  read(group: FetchedGroup, wanted: Wanted): Promise<SealedColumns> {
    const id = ++this.#lastId;
    // Both are copied, since transferring a part of a buffer transfers the whole buffer.
    const [bytes, tail] = [new Uint8Array(group.group), new Uint8Array(group.tail)];
    const task: ReadTask = { id, group: { ...group, group: bytes, tail }, wanted };
    this.#worker.postMessage(task, [bytes.buffer, tail.buffer]);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => void this.#giveUp(id), this.#answerMs);
      this.#waiting.set(id, { resolve, reject, timer });
    });
  }

  /** Ends the thread; pending reads are rejected with `why`. */
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

  /** Checks for a reply first: after a suspension the timer fires before a reply that has already arrived. */
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
