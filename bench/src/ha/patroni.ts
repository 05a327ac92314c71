/** What `deploy/ha/patroni-version` says of the Patroni that is installed here. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../deploy/ha/patroni-version', import.meta.url));

/** `isGood`: it is one that may run the database. */
export function lookAtPatroni(): { readonly isGood: boolean; readonly said: string } {
  const { status, stdout } = spawnSync(SCRIPT, { encoding: 'utf8' });
  return { isGood: status === 0, said: stdout.trim().replaceAll('\n', ' ') };
}
