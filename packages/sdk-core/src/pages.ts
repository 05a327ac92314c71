/** Lists that come in pages (protocol §13), fetched one page after the other as they are consumed. */
import { SvcError } from './errors.ts';

/** @throws SvcError `bad-response` where a cursor repeats: the list would never end. */
export async function* iteratePages<Page extends { next_cursor: string | null }, Item>(
  fetchPage: (cursor: { cursor?: string }) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): AsyncGenerator<Item, void, undefined> {
  const seen = new Set<string>();
  let cursor: string | null = null;
  do {
    const page: Page = await fetchPage(cursor === null ? {} : { cursor });
    yield* itemsOf(page);
    cursor = page.next_cursor;
    if (cursor !== null && seen.has(cursor))
      throw new SvcError('bad-response', 'the list leads back into itself');
    if (cursor !== null) seen.add(cursor);
  } while (cursor !== null);
}
