/** Limits the number of calls under way, counted over all threads that share the memory of the count. */
import { threadId } from 'node:worker_threads';

const FREE = 0;
/** Threads of a process are numbered from 0, and 0 marks a free place. */
const markOf = (thread: number): number => thread + 1;

/** Each place is free, or has the mark of the thread that took it. A negative mark: its call did not end in time. */
export class Places {
  readonly memory: SharedArrayBuffer;
  readonly #marks: Int32Array;
  readonly #mine = markOf(threadId);

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#marks = new Int32Array(memory);
  }

  static of(count: number): Places {
    return new Places(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT));
  }

  get count(): number {
    return this.#marks.length;
  }

  /** True: every place is taken by a call that did not end in time, so no call can be made before one of them ends. */
  get areOverdue(): boolean {
    return this.#all.every((place) => Atomics.load(this.#marks, place) < FREE);
  }

  /** Null: no place is free. */
  take(): number | null {
    const taken = this.#all.find(
      (place) => Atomics.compareExchange(this.#marks, place, FREE, this.#mine) === FREE,
    );
    return taken ?? null;
  }

  setOverdue(place: number): void {
    Atomics.store(this.#marks, place, -this.#mine);
  }

  free(place: number): void {
    Atomics.store(this.#marks, place, FREE);
  }

  /** Frees the places of a thread that has ended and can no longer free them itself. */
  freeAllOf(thread: number): void {
    for (const place of this.#all)
      for (const mark of [markOf(thread), -markOf(thread)])
        Atomics.compareExchange(this.#marks, place, mark, FREE);
  }

  get #all(): number[] {
    return [...this.#marks.keys()];
  }
}
