/** A list that is loaded in pages, newest first: the first page, and more on demand. */
import { useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

export interface Part<T> {
  readonly rows: readonly T[];
  readonly next: string | null;
}

export interface Paged<T> extends Omit<Loaded<Part<T>>, 'value'> {
  /** Null until the first page is loaded. */
  readonly rows: readonly T[] | null;
  /** Null where there are no more rows. */
  readonly loadMore: (() => Promise<void>) | null;
}

/** Most pages that are read at once where the whole list is wanted. */
const MAX_PAGES = 10;

/** Reads page after page, from `cursor` on, at most 10. `next` is not null where there are more. */
export const readPages = async <T>(
  load: (cursor: string | null) => Promise<Part<T>>,
  cursor: string | null = null,
): Promise<Part<T>> => {
  const rows: T[] = [];
  let next = cursor;
  for (let page = 0; page < MAX_PAGES; page++) {
    const part = await load(next);
    rows.push(...part.rows);
    next = part.next;
    if (next === null) break;
  }
  return { rows, next };
};

export const usePaged = <T>(
  load: (cursor: string | null) => Promise<Part<T>>,
  inputs: readonly unknown[],
): Paged<T> => {
  const [more, setMore] = useState<(Part<T> & { readonly after: Part<T> }) | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const first = useLoaded(() => load(null), inputs);
  // Pages that followed another first page are dropped with it.
  const older = more !== null && more.after === first.value ? more : null;
  const next = older === null ? (first.value?.next ?? null) : older.next;
  const loadMore = async () => {
    const { value: after } = first;
    if (after === null) return;
    setProblem(null);
    try {
      const part = await load(next);
      setMore({ after, rows: [...(older?.rows ?? []), ...part.rows], next: part.next });
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  return {
    ...{ isLoading: first.isLoading, reload: first.reload, problem: first.problem ?? problem },
    rows: first.value === null ? null : [...first.value.rows, ...(older?.rows ?? [])],
    loadMore: next === null ? null : loadMore,
  };
};
