// A cluster on disk, everything owned by the user the server runs as:
//   <dataDir>/cluster/pgdata     what initdb makes
//   <dataDir>/cluster/password   the superuser's password, readable by that user only
//   <dataDir>/cluster/server.log the log of the latest start
//   <dataDir>/cluster/starter    the process that stops the server, once it or its taker-over wrote it down
import { createHash, randomBytes } from 'node:crypto';
import {
  access,
  chown,
  constants,
  lchown,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Binaries } from './binaries.ts';
import { isAlive } from './is-alive.ts';
import { EmbeddedPostgresError } from './problem.ts';
import { canUseDirectory, runAs, type ServerUser } from './server-user.ts';
import { sharedPlace } from './shared-place.ts';

export const superuser = 'svc';

export interface Cluster {
  readonly pgdata: string;
  readonly password: string;
  readonly logFile: string;
  readonly starterFile: string;
}

const clusterFolder = (dataDir: string) => join(dataDir, 'cluster');
export const pgdataOf = (dataDir: string) => join(clusterFolder(dataDir), 'pgdata');

/** Actual directory of the cluster: `dataDir`, unless the server's user cannot reach it. Without symbolic links. */
export async function prepareDataDir(
  dataDir: string,
  user: ServerUser | null,
  notes: string[],
): Promise<string> {
  const wanted = resolve(dataDir);
  if (await handOver(wanted, user)) return realpath(wanted);
  const elsewhere = await placeElsewhere(wanted);
  if (!(await handOver(elsewhere, user))) {
    throw new EmbeddedPostgresError(
      `${user?.name ?? 'this user'} can use neither ${wanted} nor ${elsewhere}`,
    );
  }
  notes.push(`the database lies in ${elsewhere}: ${user?.name ?? 'the server'} cannot use ${wanted}`);
  return realpath(elsewhere);
}

/** The directory that replaces an unreachable `dataDir`; always the same for the same `dataDir`. */
async function placeElsewhere(dataDir: string): Promise<string> {
  const wanted = resolve(dataDir);
  const real = await realpath(wanted).catch(() => wanted);
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 12);
  return join(sharedPlace(), 'clusters', `${basename(wanted)}-${hash}`);
}

/** The user that must run an existing cluster: its owner, when root may choose. */
export async function ownerOfCluster(dataDir: string): Promise<ServerUser | null> {
  const owner = await stat(pgdataOf(dataDir)).catch(() => null);
  if (owner === null || owner.uid === 0) return null;
  return { name: `user ${owner.uid}`, uid: owner.uid, gid: owner.gid };
}

/** The cluster in `dataDir`, created by initdb if there is none yet. */
export async function openCluster(
  dataDir: string,
  durable: boolean,
  binaries: Binaries,
  user: ServerUser | null,
): Promise<Cluster> {
  const folder = clusterFolder(dataDir);
  if ((await readdir(dataDir)).includes('cluster')) await refuseOtherVersion(dataDir, binaries);
  else await createCluster(dataDir, durable, binaries, user);
  return {
    pgdata: join(folder, 'pgdata'),
    password: await readPassword(folder),
    logFile: join(folder, 'server.log'),
    starterFile: join(folder, 'starter'),
  };
}

/**
 * Created under another name, then renamed. So an existing cluster is complete, and of two concurrent creators one
 * wins.
 */
async function createCluster(dataDir: string, durable: boolean, binaries: Binaries, user: ServerUser | null) {
  await removeUnfinished(dataDir);
  const unfinished = join(dataDir, `unfinished-${process.pid}-${randomBytes(4).toString('hex')}`);
  const passwordFile = join(unfinished, 'password');
  try {
    await mkdir(unfinished, { mode: 0o700 });
    await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' });
    if (user !== null) {
      await chown(passwordFile, user.uid, user.gid);
      await chown(unfinished, user.uid, user.gid);
    }
    await runAs(user, binaries.initdb, [
      `--pgdata=${join(unfinished, 'pgdata')}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
      ...(durable ? [] : ['--no-sync']),
    ]);
    await rename(unfinished, clusterFolder(dataDir));
  } catch (problem) {
    if ((await readdir(dataDir)).includes('cluster')) return;
    const { stderr } = problem as { stderr?: string };
    throw new EmbeddedPostgresError(`initdb could not make a database in ${dataDir}`, stderr, problem);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function removeUnfinished(dataDir: string) {
  for (const name of await readdir(dataDir)) {
    const maker = Number(/^unfinished-(\d+)-/.exec(name)?.[1] ?? Number.NaN);
    if (!Number.isNaN(maker) && !isAlive(maker))
      await rm(join(dataDir, name), { recursive: true, force: true });
  }
}

async function refuseOtherVersion(dataDir: string, binaries: Binaries) {
  const made = (await readFile(join(pgdataOf(dataDir), 'PG_VERSION'), 'utf8').catch(() => 'unknown')).trim();
  if (binaries.version.split('.')[0] === made) return;
  throw new EmbeddedPostgresError(
    `the database in ${dataDir} was made by PostgreSQL ${made}, the programs here are ${binaries.version}. ` +
      'Move that folder away to start with an empty one.',
  );
}

async function readPassword(folder: string): Promise<string> {
  try {
    return (await readFile(join(folder, 'password'), 'utf8')).trim();
  } catch (problem) {
    throw new EmbeddedPostgresError(`the password of the database in ${folder} cannot be read`, '', problem);
  }
}

/** Creates the directory and gives it to the server's user; false if that user still cannot use it. */
async function handOver(directory: string, user: ServerUser | null): Promise<boolean> {
  const isNew = await makeDirectory(directory);
  if (isNew === null) return false;
  if (user === null) return isUsable(directory);
  // Only a new directory, or an empty one that root owns, changes its owner: never one that somebody else filled.
  const found = await stat(directory);
  const isFree = isNew || (found.uid === 0 && (await readdir(directory)).length === 0);
  if (isFree) await lchown(directory, user.uid, user.gid);
  if (await canUseDirectory(user, directory)) return true;
  if (isNew) await rmdir(directory);
  return false;
}

/** True if created now, false if it existed, null if it cannot be created. */
async function makeDirectory(directory: string): Promise<boolean | null> {
  try {
    await mkdir(dirname(directory), { recursive: true });
    await mkdir(directory, { mode: 0o700 });
    return true;
  } catch (problem) {
    const { code } = problem as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return null;
    throw new EmbeddedPostgresError(`the directory ${directory} cannot be made`, '', problem);
  }
}

const isUsable = (directory: string) =>
  access(directory, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
