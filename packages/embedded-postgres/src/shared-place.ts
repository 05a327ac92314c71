// A directory for binaries or a cluster that the server's user cannot reach in the project.
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './problem.ts';

/**
 * The first usable directory that no other user can write to. Programs are run from it, so a folder that another user
 * created in advance in a shared directory (the temporary one) is passed over.
 */
export function sharedPlace(): string {
  const uid = process.getuid?.() ?? 0;
  const tried = [
    uid === 0 && process.platform !== 'win32' ? '/var/lib/svc-embedded' : join(userCache(), 'svc-embedded'),
    join(tmpdir(), `svc-embedded-${uid}`),
  ];
  const found = tried.find((directory) => isOurs(directory, uid));
  if (found === undefined) {
    throw new EmbeddedPostgresError(`no place for the embedded PostgreSQL: tried ${tried.join(' and ')}`);
  }
  return found;
}

const userCache = () => process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');

function isOurs(directory: string, uid: number): boolean {
  try {
    mkdirSync(directory, { recursive: true });
    const found = lstatSync(directory);
    if (!found.isDirectory()) return false;
    if (process.platform === 'win32') return true;
    if (found.uid !== uid) return false;
    chmodSync(directory, 0o755);
    return true;
  } catch {
    return false;
  }
}
