/** A folder for one run. */
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Place } from '../harness/contestants.ts';

/** Creates the folder. Servers that run as another user can read it. It is deleted with the run, unless it is kept. */
export const makePlace = (prefix: string, cleanup: Cleanup, isKept = false): Place => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), prefix));
  chmodSync(folder, 0o755);
  if (!isKept) cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, cleanup };
};
