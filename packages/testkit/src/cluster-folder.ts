// Where the clusters of tests lie: folders of the temporary directory that name the process they belong to, so that
// the next run can clear away what a killed one left.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeEmbeddedPostgres } from '@svc/embedded-postgres';

const prefix = 'svc-test-';

/** `near`: a folder that the server's user gets to. */
export const makeClusterFolder = (near = realpathSync(tmpdir())): string =>
  mkdtempSync(join(near, `${prefix}${process.pid}-`));

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
  for (const name of readdirSync(tmpdir())) {
    const owner = Number(/^svc-test-(\d+)-/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(owner) || isAlive(owner)) continue;
    await removeEmbeddedPostgres(join(tmpdir(), name)).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (problem) {
    return (problem as NodeJS.ErrnoException).code === 'EPERM';
  }
}
