/**
 * Counts faults by kind: one cause, such as a key under another name, causes faults in thousands of rows. The first
 * faults of each kind are shown, and all are counted.
 */
import type { Fault } from '@svc/fsck';

export const SHOWN_OF_A_KIND = 20;
/** Beyond this number new kinds are counted together, since the text of a problem contains text from the database. */
const MAX_KINDS = 500;
const OTHERS = 'other problems';

export interface FaultKind {
  readonly check: string;
  /** The problem's text, with `…` for the parts that differ from row to row. */
  readonly problem: string;
  readonly count: number;
  readonly shown: number;
}

export class FaultList {
  readonly #kinds = new Map<string, { check: string; problem: string; count: number; shown: number }>();

  constructor(private readonly showsAll: boolean) {}

  /** Counts the fault; true if it is to be shown. */
  add({ check, problem }: Fault): boolean {
    const kind = this.#kindOf(check, problem.replace(/\S+/g, withoutNumbers));
    kind.count += 1;
    if (!this.showsAll && kind.shown === SHOWN_OF_A_KIND) return false;
    kind.shown += 1;
    return true;
  }

  /** The most frequent first. */
  list(): readonly FaultKind[] {
    return [...this.#kinds.values()].sort((left, right) => right.count - left.count);
  }

  #kindOf(check: string, problem: string) {
    const key = `${check}\n${problem}`;
    const isNew = !this.#kinds.has(key) && this.#kinds.size >= MAX_KINDS;
    const [name, text] = isNew ? [`\n${OTHERS}`, OTHERS] : [key, problem];
    const kind = this.#kinds.get(name) ?? { check: isNew ? 'all' : check, problem: text, count: 0, shown: 0 };
    this.#kinds.set(name, kind);
    return kind;
  }
}

/**
 * Applied to each word: a regular expression over the text that finds words with a digit would start again at each
 * character of a long word.
 */
const withoutNumbers = (word: string): string => (/[\d:…]/.test(word) ? '…' : word);
