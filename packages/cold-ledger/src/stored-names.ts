import type { ObjectStore } from '@svc/service';

const PAGE = 1_000;

/** Names of all objects in a folder, as the store lists them. */
export async function* namesBelow(
  objects: Pick<ObjectStore, 'list'>,
  folder: string,
  stop?: AbortSignal,
): AsyncGenerator<string> {
  for (let after: string | null = null; ; ) {
    const page = await objects.list(folder, after, PAGE, stop);
    yield* page.names;
    if (page.next === null) return;
    after = page.next;
  }
}
