/**
 * A line in which nobody who asks for much keeps others waiting. Whoever waits stands under a path, such as crowd, org and
 * subject; at each step of the path the turn goes round those who wait there, and under one path the first to come is the
 * first to go.
 */
interface Branch<T> {
  readonly branches: Map<string, Branch<T>>;
  readonly items: Set<T>;
}

export class FairLine<T> {
  readonly #root = newBranch<T>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(path: readonly string[], item: T): void {
    let branch = this.#root;
    for (const step of path) {
      let next = branch.branches.get(step);
      if (next === undefined) {
        next = newBranch();
        branch.branches.set(step, next);
      }
      branch = next;
    }
    branch.items.add(item);
    this.#size += 1;
  }

  /** Takes out the item whose turn it is, of those that `may` go. Undefined: none may. */
  take(may: (item: T) => boolean = () => true): T | undefined {
    const item = takeFrom(this.#root, may);
    if (item !== undefined) this.#size -= 1;
    return item;
  }

  /** Takes an item out of its turn. False: it is not in the line. */
  delete(path: readonly string[], item: T): boolean {
    let branch: Branch<T> | undefined = this.#root;
    for (const step of path) branch = branch?.branches.get(step);
    const isDeleted = branch?.items.delete(item) ?? false;
    if (isDeleted) this.#size -= 1;
    return isDeleted;
  }
}

const newBranch = <T>(): Branch<T> => ({ branches: new Map(), items: new Set() });

/** Branches stand in the order in which their turn comes; one that had it goes to the end, an empty one goes. */
const takeFrom = <T>({ branches, items }: Branch<T>, may: (item: T) => boolean): T | undefined => {
  for (const item of items) {
    if (!may(item)) continue;
    items.delete(item);
    return item;
  }
  for (const [step, next] of branches) {
    const item = takeFrom(next, may);
    const isEmpty = next.items.size + next.branches.size === 0;
    if (item !== undefined || isEmpty) branches.delete(step);
    if (item === undefined) continue;
    if (!isEmpty) branches.set(step, next);
    return item;
  }
  return undefined;
};
