/**
 * `SVC_DATA_DIR` of a test file: one folder for all its nodes, so that a kid of the service always means the same key.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | null = null;

export const dataFolder = (): string => {
  folder ??= mkdtempSync(join(tmpdir(), 'svc-api-test-'));
  return folder;
};

/** Call it after the last test of the file. */
export const removeDataFolder = (): void => {
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
  folder = null;
};
