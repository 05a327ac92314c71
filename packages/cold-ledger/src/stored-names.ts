import { type ObjectStore, ObjectStoreError } from '@svc/service';

const PAGE = 1_000;
/** More than the objects of any day need. A listing that goes on beyond that comes from a store that invents names. */
const MAX_PAGES = 1_000;

/** Names of all objects in a folder, as the store lists them. Rejects with `wrong-bytes` after a thousand pages. */
export async function* namesBelow(
  objects: Pick<ObjectStore, 'list'>,
  folder: string,
  stop?: AbortSignal,
): AsyncGenerator<string> {
  let after: string | null = null;
  for (let read = 0; read < MAX_PAGES; read++) {
    const page = await objects.list(folder, after, PAGE, stop);
    yield* page.names;
    if (page.next === null) return;
    after = page.next;
  }
  throw new ObjectStoreError('wrong-bytes', `the listing of ${folder} has no end`);
}
