/** A list that is loaded in pages, newest first: the first page, and more on demand. */
import { useRef, useState } from 'preact/hooks';
import { problemText } from './api.ts';
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

/** The first page, `after`, and what has followed it. */
interface More<T> extends Part<T> {
  readonly after: Part<T>;
  readonly problem: string | null;
  readonly isLoading: boolean;
}

export const usePaged = <T>(
  load: (cursor: string | null) => Promise<Part<T>>,
  inputs: readonly unknown[],
): Paged<T> => {
  const [more, setMore] = useState<More<T> | null>(null);
  const first = useLoaded(() => load(null), inputs);
  const { value: after, reload } = first;
  // Whatever followed another first page is dropped with it.
  const shown = more?.after === after ? more : null;
  const { rows, next } = shown ?? after ?? { rows: null, next: null };
  const loadMore = async () => {
    if (after === null || rows === null || shown?.isLoading === true) return;
    const known = { after, rows, next, problem: null, isLoading: true };
    setMore(known);
    const answered = (answer: Partial<More<T>>) =>
      setMore((now) => (now?.after === after ? { ...known, ...answer, isLoading: false } : now));
    await load(next).then(
      (part) => answered({ rows: [...rows, ...part.rows], next: part.next }),
      (error) => answered({ problem: problemText(error) }),
    );
  };
  return {
    ...{ rows, reload, problem: first.problem ?? shown?.problem ?? null },
    isLoading: first.isLoading || shown?.isLoading === true,
    loadMore: next === null ? null : loadMore,
  };
};

/** The rows of the question before while the new one is not answered, so that the page keeps its height. */
export const useLatestRows = <T>({ rows, isLoading }: Pick<Paged<T>, 'rows' | 'isLoading'>): readonly T[] => {
  const latest = useRef<readonly T[]>([]);
  if (rows !== null || !isLoading) latest.current = rows ?? [];
  return latest.current;
};
