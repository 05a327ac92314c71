/** Patroni: the installed one, or the file that the environment names in `PATRONI`. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../deploy/ha/patroni-version', import.meta.url));

export const PATRONI = process.env.PATRONI ?? 'patroni';

/** The output of `deploy/ha/patroni-version` for it. `isGood`: it accepts this version. */
export function lookAtPatroni(): { readonly isGood: boolean; readonly said: string } {
  const { status, stdout } = spawnSync(SCRIPT, { encoding: 'utf8' });
  return { isGood: status === 0, said: stdout.trim().replaceAll('\n', ' ') };
}
