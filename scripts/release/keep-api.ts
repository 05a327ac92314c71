/**
 * Stores the API of a release as `releases/api-<version>.tgz`, replacing the previous one: the built program and its
 * migrations, without pages and source maps. The next version is tested with it
 * (apps/api/test/deployments/upgrade.test.ts).
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The program's own files; `start` belongs to the quick start. */
const isKept = (name: string): boolean =>
  name === 'migrations' || (name.endsWith('.js') && name !== 'start.js');

/** Returns the file that was written. `root` is that of the repository; the API must have been built. */
export function keepApi(root: string, version: string): string {
  const built = join(root, 'apps', 'api', 'dist');
  const folder = join(root, 'releases');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const file = join(folder, `api-${version}.tgz`);
  const kept = readdirSync(built).filter(isKept).sort();
  execFileSync('tar', ['-czf', file, '-C', built, ...kept]);
  return file;
}
