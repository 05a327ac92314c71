/** Reads a vector set from files: those of @svc/vectors, or of a folder with the same layout. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  listVectorPaths,
  MANIFEST_PATH,
  parseVectorSet,
  type VectorSet,
  VectorSetError,
} from '../vector-set.ts';

/** The published set, or the one in `folder`. Throws VectorSetError. */
export const readVectorSet = (folder: string = publishedFolder()): VectorSet => {
  const files = new Map([[MANIFEST_PATH, read(folder, MANIFEST_PATH)]]);
  for (const path of listVectorPaths(files.get(MANIFEST_PATH) ?? '')) files.set(path, read(folder, path));
  return parseVectorSet(files);
};

/** Beside the built file, or, when run from source, where the package is installed. */
const publishedFolder = (): string => {
  const beside = fileURLToPath(new URL('vectors', import.meta.url));
  return existsSync(join(beside, MANIFEST_PATH))
    ? beside
    : dirname(createRequire(import.meta.url).resolve(`@svc/vectors/${MANIFEST_PATH}`));
};

const read = (folder: string, path: string): string => {
  if (path.startsWith('/') || path.split('/').includes('..'))
    throw new VectorSetError(`the manifest lists ${path}, which lies elsewhere`);
  try {
    return readFileSync(join(folder, path), 'utf8');
  } catch {
    throw new VectorSetError(`${join(folder, path)} cannot be read`);
  }
};
