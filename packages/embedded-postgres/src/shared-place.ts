// A directory for what cannot stay in the project: binaries or a cluster that lie where the server's user may not go.
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './problem.ts';

/**
 * The first place that can be had and that nobody else can write: programs are run from it, so in a directory open
 * to all (the temporary one) a folder that somebody else made in advance is passed over.
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
