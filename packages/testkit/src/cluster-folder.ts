// Where the clusters of tests lie: folders in memory, or of the temporary directory, that name the process they belong to, so
// that the next run can clear away what a killed one left.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, realpathSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeEmbeddedPostgres } from '@svc/embedded-postgres';
import { isAlive } from '@svc/embedded-postgres/is-alive';

const prefix = 'svc-test-';

/** Linux has a file system in memory there, as a rule half as large as the memory; a container's has 64 MB. */
const memory = '/dev/shm';
/** Several times what the clusters of a whole run take at once. */
const roomBytes = 4 * 2 ** 30;

/** A migrated database is more than a thousand files, and each test file has one: on a disk, most of its time is theirs. */
const chooseHome = (): string => (hasRoom() ? memory : realpathSync(tmpdir()));

const hasRoom = (): boolean => {
  if (process.platform !== 'linux' || process.availableMemory() < 2 * roomBytes) return false;
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= roomBytes;
  } catch {
    return false;
  }
};

/** `near`: a folder that the server's user gets to. */
export const makeClusterFolder = (near = chooseHome()): string =>
  mkdtempSync(join(near, `${prefix}${process.pid}-`));

/**
 * For what a test itself writes and flushes again and again: on a disk most of its time is that of the disk. The caller
 * removes it.
 */
export const makeMemoryFolder = (): string => makeClusterFolder();

/** A cluster that is not running, into an empty folder; owners and modes, which Node's own copying loses, are kept. */
export const copyCluster = (from: string, to: string): void => {
  if (process.platform === 'win32') {
    cpSync(from, to, { recursive: true });
    return;
  }
  const { status, stderr } = spawnSync('cp', ['-a', `${from}/.`, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cp: ${stderr}`);
};

/** Stops and deletes the clusters of processes that are gone. Those of other users are theirs. */
export async function removeAbandonedClusters(): Promise<void> {
  for (const home of [memory, tmpdir()])
    for (const name of listIn(home)) {
      const owner = Number(/^svc-test-(\d+)-/.exec(name)?.[1] ?? Number.NaN);
      if (Number.isNaN(owner) || isAlive(owner)) continue;
      await removeEmbeddedPostgres(join(home, name)).catch(() => undefined);
    }
}

function listIn(home: string): string[] {
  try {
    return readdirSync(home);
  } catch {
    return [];
  }
}
