/** Object stores in folders that no other test sees. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openObjects } from '@svc/object-store';
import type { ObjectStore } from '@svc/service';
import { afterAll } from 'vitest';
import { makeMemoryFolder } from '../cluster-folder.ts';

/**
 * Call it at the top of a test file. Each call of the function that it answers opens an empty store; all are removed
 * after the tests.
 */
export const withObjectFolders = (): (() => Promise<ObjectStore>) => {
  const root = makeMemoryFolder();
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  let count = 0;
  return async () => (await openObjects(pathToFileURL(join(root, `${count++}`)).href, null)).objects;
};
