/**
 * A list from whose beginning, end or middle one takes in constant time. A Map or Set keeps the places of what was deleted
 * for a while and walks over them: to take the first of 30,000 again and again costs the square of that.
 */
export interface Link<T> {
  readonly value: T;
  next: Link<T> | null;
  previous: Link<T> | null;
}

export class LinkedList<T> {
  first: Link<T> | null = null;
  #last: Link<T> | null = null;

  /** To the end. */
  push(value: T): Link<T> {
    const link: Link<T> = { value, next: null, previous: this.#last };
    if (this.#last === null) this.first = link;
    else this.#last.next = link;
    this.#last = link;
    return link;
  }

  /** `link` is in this list. */
  remove({ next, previous }: Link<T>): void {
    if (previous === null) this.first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
  }
}
