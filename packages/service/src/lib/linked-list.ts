/**
 * A linked list with removal in constant time at any place. A Map or Set keeps the places of deleted entries for a
 * while and iterates over them, so taking the first of 30,000 entries repeatedly has quadratic cost.
 */
export interface Link<T> {
  readonly value: T;
  next: Link<T> | null;
  previous: Link<T> | null;
}

export class LinkedList<T> {
  first: Link<T> | null = null;
  #last: Link<T> | null = null;

  /** Adds a value at the end. */
  push(value: T): Link<T> {
    const link: Link<T> = { value, next: null, previous: this.#last };
    if (this.#last === null) this.first = link;
    else this.#last.next = link;
    this.#last = link;
    return link;
  }

  /** Removes a link, which must be in this list. */
  remove({ next, previous }: Link<T>): void {
    if (previous === null) this.first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
  }
}
