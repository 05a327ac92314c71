/** Object stores in folders that no other test sees. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openObjects } from '@svc/object-store';
import type { ObjectStore } from '@svc/service';
import { afterAll } from 'vitest';
import { makeMemoryFolder } from '../cluster-folder.ts';

/** Opens an empty store, or a copy of one that it has opened. */
export type OpenFolder = (source?: ObjectStore) => Promise<ObjectStore>;

/** Call it at the top of a test file. All stores that it opens are removed after the tests. */
export const withObjectFolders = (): OpenFolder => {
  const root = makeMemoryFolder();
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const folders = new Map<ObjectStore, string>();
  return async (source) => {
    const folder = join(root, `${folders.size}`);
    const from = source && folders.get(source);
    if (from !== undefined) cpSync(from, folder, { recursive: true });
    const { objects } = await openObjects(pathToFileURL(folder).href, null);
    folders.set(objects, folder);
    return objects;
  };
};
