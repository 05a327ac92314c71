/**
 * The libraries that are compared in one process: each makes the same decision from tokens that it has not parsed
 * before.
 */

export interface Peer {
  readonly name: string;
  /** Public-key signatures checked for one decision. */
  readonly signatures: number;
  /** The work in one of our decisions that this peer does not do. */
  readonly without: string;
  /** Decides on the `i`-th of the prepared requests, modulo their number. Throws or rejects unless it is allowed. */
  run(i: number): unknown;
}

/** Number of prepared requests: what a library caches of one must not answer the next. */
export const REQUESTS = 64;

/** The `i`-th item of a list, modulo its length. */
export const turnOf = <Item>(items: readonly Item[], i: number): Item => {
  const item = items[i % items.length];
  if (item === undefined) throw new Error('nothing is prepared');
  return item;
};

export function demand(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new Error(problem);
}
