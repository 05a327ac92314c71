/**
 * Public test vectors that live beside the project. Where they are absent a test that needs them is skipped aloud.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { it } from 'vitest';

const ROOT = new URL('../../../../../../shared/testdata/', import.meta.url);

export const readVectorText = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
export const listVectors = (folder: string): string[] => readdirSync(new URL(folder, ROOT)).sort();

/** A test over the vectors in `folder` (ends with `/`), skipped with a warning that names it if it is missing. */
export const itWithVectors = (folder: string, title: string, test: () => void): void => {
  if (existsSync(new URL(folder, ROOT))) {
    it(title, test);
    return;
  }
  console.warn(`public vectors ${folder} not found: "${title}" is skipped`);
  it.skip(title, test);
};
