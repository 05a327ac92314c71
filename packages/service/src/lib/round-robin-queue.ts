/**
 * A hierarchical round-robin queue, in which no tenant delays others by asking for much. An item waits under a path,
 * such as crowd, org and subject. At each step of the path, the branches with items take turns; items with the same
 * path are first in, first out. The cost of adding, taking and deleting does not depend on the number of items, as long
 * as the next item in turn may be taken.
 */
import type { Tenant } from '../ports/tenant.ts';
import { type Link, LinkedList } from './linked-list.ts';

interface Branch<T> {
  readonly step: string;
  /** Its place among the turns of its parent branch; null at the root. */
  turn: Link<Branch<T>> | null;
  readonly branches: Map<string, Branch<T>>;
  /** The branches in the order of their turns. */
  readonly turns: LinkedList<Branch<T>>;
  readonly items: LinkedList<T>;
  readonly links: Map<T, Link<T>>;
}

const SERVICE = ['service', '', ''];

/** Path under which a tenant waits. Null: the service itself, which takes turns with all tenants together. */
export const pathOf = (tenant: Tenant | null): readonly string[] =>
  tenant === null ? SERVICE : [tenant.crowd, tenant.org, tenant.subject];

/** Whether the tenant is a newcomer or the public, of which there can be any number. */
export const isGuest = (tenant: Tenant | null): boolean => tenant !== null && tenant.crowd !== 'tenants';

export class RoundRobinQueue<T> {
  readonly #root = newBranch<T>('');
  #size = 0;
  #steps = 0;

  get size(): number {
    return this.#size;
  }

  /** Number of items and branches that `take` has examined so far. */
  get steps(): number {
    return this.#steps;
  }

  add(path: readonly string[], item: T): void {
    let branch = this.#root;
    for (const step of path) {
      let next = branch.branches.get(step);
      if (next === undefined) {
        next = newBranch<T>(step);
        branch.branches.set(step, next);
        next.turn = branch.turns.push(next);
      }
      branch = next;
    }
    branch.links.set(item, branch.items.push(item));
    this.#size += 1;
  }

  /** Takes the next item in turn for which `may` is true. Undefined: there is none. */
  take(may: (item: T) => boolean = () => true): T | undefined {
    const item = this.#takeFrom(this.#root, may);
    if (item !== undefined) this.#size -= 1;
    return item;
  }

  /** Removes an item. False: it is not in the queue. A branch that is empty then loses its turn. */
  delete(path: readonly string[], item: T): boolean {
    const branches = [this.#root];
    for (const step of path) {
      const next = branches.at(-1)?.branches.get(step);
      if (next === undefined) return false;
      branches.push(next);
    }
    const last = branches.at(-1);
    if (last === undefined || !deleteFrom(last, item)) return false;
    this.#size -= 1;
    for (let depth = path.length; depth > 0; depth--) {
      const [branch, parent] = [branches[depth], branches[depth - 1]];
      if (branch?.turn == null || parent === undefined || !isEmpty(branch)) break;
      parent.turns.remove(branch.turn);
      parent.branches.delete(branch.step);
    }
    return true;
  }

  /** A branch that had its turn goes to the end of the turns; an empty one is removed. */
  #takeFrom(branch: Branch<T>, may: (item: T) => boolean): T | undefined {
    for (let link = branch.items.first; link !== null; link = link.next) {
      this.#steps += 1;
      if (may(link.value)) {
        deleteFrom(branch, link.value);
        return link.value;
      }
    }
    for (let link = branch.turns.first; link !== null; link = link.next) {
      this.#steps += 1;
      const next = link.value;
      const item = this.#takeFrom(next, may);
      if (item === undefined) continue;
      branch.turns.remove(link);
      if (isEmpty(next)) branch.branches.delete(next.step);
      else next.turn = branch.turns.push(next);
      return item;
    }
    return undefined;
  }
}

const newBranch = <T>(step: string): Branch<T> => ({
  step,
  turn: null,
  branches: new Map(),
  turns: new LinkedList(),
  items: new LinkedList(),
  links: new Map(),
});

const isEmpty = <T>({ items, turns }: Branch<T>): boolean => items.first === null && turns.first === null;

const deleteFrom = <T>({ items, links }: Branch<T>, item: T): boolean => {
  const link = links.get(item);
  if (link === undefined) return false;
  items.remove(link);
  return links.delete(item);
};
