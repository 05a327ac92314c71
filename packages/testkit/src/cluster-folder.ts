// Where the clusters of tests are: folders in memory or in the temporary directory. Their names contain the process
// that they belong to, so that the next run can remove what a killed run left.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, realpathSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeEmbeddedPostgres } from '@svc/embedded-postgres';
import { isAlive } from '@svc/embedded-postgres/is-alive';

const prefix = 'svc-test-';

/** Linux has a file system in memory there, usually half as large as the memory; a container's has 64 MB. */
const memory = '/dev/shm';
/** Several times what the clusters of a whole run need at once. */
const roomBytes = 4 * 2 ** 30;

/**
 * A migrated database has more than a thousand files, and each test file has a database. On a disk, most of the file's
 * time is spent on these.
 */
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

/** `near`: a folder that the server's user can reach. */
export const makeClusterFolder = (near = chooseHome()): string =>
  mkdtempSync(join(near, `${prefix}${process.pid}-`));

/**
 * For data that a test writes and flushes again and again: on a disk most of its time would be the disk's. The caller
 * removes it.
 */
export const makeMemoryFolder = (): string => makeClusterFolder();

/** Copies a stopped cluster into an empty folder. Keeps owners and modes, which Node's own copying loses. */
export const copyCluster = (from: string, to: string): void => {
  if (process.platform === 'win32') {
    cpSync(from, to, { recursive: true });
    return;
  }
  const { status, stderr } = spawnSync('cp', ['-a', `${from}/.`, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cp: ${stderr}`);
};

/** Stops and deletes the clusters of processes that have ended. Leaves those of other users. */
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
