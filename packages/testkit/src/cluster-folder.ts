// Where the clusters of tests lie: folders of the temporary directory that name the process they belong to, so that
// the next run can clear away what a killed one left.
import { mkdtempSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeEmbeddedPostgres } from '@svc/embedded-postgres';

const prefix = 'svc-test-';

export const makeClusterFolder = (): string =>
  mkdtempSync(join(realpathSync(tmpdir()), `${prefix}${process.pid}-`));

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
