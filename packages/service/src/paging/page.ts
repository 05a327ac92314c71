/**
 * Pages of a list. The store is asked for one item more than the page holds, which shows whether there is a next page.
 * A cursor is only the last id of a page in base64url: it is parsed as an id again, and each page decides anew what the
 * caller may see.
 */
import { decodeBase64urlText, encodeBase64urlText } from '@svc/protocol';
import { invalidRequest } from '../errors.ts';

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * `list` returns at most `limit` items, in the order of the list. `countOf`: the maximum number of these that make a
 * page.
 */
export const readPage = async <Item>(
  limit: number,
  list: (limit: number) => Promise<readonly Item[]>,
  cursorOf: (last: Item) => string,
  countOf: (found: readonly Item[]) => number = () => limit,
): Promise<Page<Item>> => {
  const found = await list(limit + 1);
  const items = found.slice(0, Math.min(limit, countOf(found)));
  const last = found.length > items.length ? items.at(-1) : undefined;
  return { items, nextCursor: last === undefined ? null : cursorOf(last) };
};

const MAX_CURSOR_CHARS = 512;

export const encodeCursor = (lastId: string): string => encodeBase64urlText(lastId);

/**
 * The id in the cursor; undefined when there is no cursor. Throws INVALID_REQUEST for a text that is not a cursor of
 * this list.
 */
export const parseCursor = <Id extends string>(
  cursor: string | undefined,
  isId: (text: string | null) => text is Id,
): Id | undefined => {
  if (cursor === undefined) return undefined;
  const id = cursor.length > MAX_CURSOR_CHARS ? null : decodeBase64urlText(cursor);
  if (isId(id)) return id;
  throw invalidRequest('cursor: must be the next_cursor of a previous page of this list');
};
