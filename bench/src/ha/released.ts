/** The API of the last release, unpacked where it finds the packages that it needs. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkReleasedPages } from '@svc/testkit/process/released-pages';
import type { Cleanup } from '../harness/cleanup.ts';

const RELEASES = fileURLToPath(new URL('../../releases/', import.meta.url));
/** Returns its `main.js`. `apps` is the folder of this version's programs. */
export function unpackReleasedApi(apps: string, cleanup: Cleanup): string {
  const archive = readdirSync(RELEASES).find((name) => /^api-.*\.tgz$/.test(name));
  if (archive === undefined) throw new Error('releases/ holds no API');
  const folder = join(apps, 'api', 'node_modules', '.cache', 'released', `ha-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('tar', ['-xzf', join(RELEASES, archive), '-C', folder]);
  // The release contains no pages; it serves those of this version.
  const built = (name: string) => join(apps, 'api', 'dist', name);
  linkReleasedPages(built('pages'), join(folder, 'pages'));
  symlinkSync(built('vectors'), join(folder, 'vectors'));
  return join(folder, 'main.js');
}
