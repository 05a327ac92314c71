/** What is compared in one process: each decides the same question from tokens that it has not parsed before. */

export interface Peer {
  readonly name: string;
  /** Public-key signatures checked for one decision. */
  readonly signatures: number;
  /** What one of our decisions does and this does not. */
  readonly without: string;
  /** Decides on the `i`-th of the prepared requests, which take turns. Throws or rejects unless it is allowed. */
  run(i: number): unknown;
}

/** Requests that take turns: what a library remembers of one must not answer the next. */
export const REQUESTS = 64;

/** The one of a list that has its turn. */
export const turnOf = <Item>(items: readonly Item[], i: number): Item => {
  const item = items[i % items.length];
  if (item === undefined) throw new Error('nothing is prepared');
  return item;
};

export function demand(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new Error(problem);
}
