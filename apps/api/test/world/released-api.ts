/** The API of the last release, as `npm run release` stored it, unpacked where it finds the packages that it needs. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programFile } from '@svc/testkit/process/program-file';
import { linkReleasedPages } from '@svc/testkit/process/released-pages';

const RELEASES = fileURLToPath(new URL('../../../../releases/', import.meta.url));
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/released/', import.meta.url));

export interface ReleasedApi {
  readonly version: string;
  /** Its `main.js`. */
  readonly file: string;
  /** Names of its migrations, in order. */
  readonly migrations: readonly string[];
  /** The text of a migration, read like those of this version. */
  readMigration(name: string): string;
  remove(): void;
}

export function unpackReleasedApi(): ReleasedApi {
  const [archive, ...others] = readdirSync(RELEASES).filter((name) => name.endsWith('.tgz'));
  const version = /^api-(\d+\.\d+\.\d+)\.tgz$/.exec(archive ?? '')?.[1];
  if (archive === undefined || version === undefined || others.length > 0)
    throw new Error(
      'releases/ holds the API of the last release, and nothing else: npm run release makes it',
    );
  const folder = join(CACHE, String(process.pid));
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', join(RELEASES, archive), '-C', folder]);
  // The release contains no pages; it serves those of this version.
  linkReleasedPages(programFile('apps/api', 'pages'), join(folder, 'pages'));
  symlinkSync(programFile('apps/api', 'vectors'), join(folder, 'vectors'));
  const migrations = join(folder, 'migrations');
  return {
    version,
    file: join(folder, 'main.js'),
    migrations: readdirSync(migrations).sort(),
    readMigration: (name) =>
      readdirSync(join(migrations, name))
        .sort()
        .map((file) => readFileSync(join(migrations, name, file), 'utf8'))
        .join('\n'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
