/** Patroni: the one that is installed, or the file that the environment names in `PATRONI`. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../deploy/ha/patroni-version', import.meta.url));

export const PATRONI = process.env.PATRONI ?? 'patroni';

/** What `deploy/ha/patroni-version` says of it. `isGood`: it is one that may run the database. */
export function lookAtPatroni(): { readonly isGood: boolean; readonly said: string } {
  const { status, stdout } = spawnSync(SCRIPT, { encoding: 'utf8' });
  return { isGood: status === 0, said: stdout.trim().replaceAll('\n', ' ') };
}
