// PostgreSQL refuses to run as root. Started as root, the server and its tools run as an ordinary user of the machine.
// Started as another user, they run as that user, and nothing here applies.
import { type ExecFileOptions, execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './problem.ts';

/** A user to run as, by number. Null instead of it: the current user. */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const usersTriedAsRoot = ['postgres', 'nobody'];
const commandDeadlineMs = 60_000;
const lookupDeadlineMs = 5_000;
const execute = promisify(execFile);

/**
 * The user that the server runs as: null when not root, otherwise the first of `candidates` that exists on this
 * machine.
 */
export function findServerUser(candidates: readonly string[] = usersTriedAsRoot): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of candidates) {
    const uid = idOf('-u', name);
    const gid = idOf('-g', name);
    if (uid !== null && gid !== null && uid !== 0) return { name, uid, gid };
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and this machine has no user called ${candidates.join(' or ')}. ` +
      'Start as an ordinary user, create one of these, or set DATABASE_URL.',
  );
}

/** Spawn options that make a child run as that user, outside a working directory that it may not enter. */
export function spawnAs(user: ServerUser | null) {
  return {
    cwd: process.platform === 'win32' ? undefined : '/',
    env: serverEnvironment(),
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
  };
}

/** Runs a program to its end as that user; throws with its output when it fails or exceeds its deadline. */
export async function runAs(user: ServerUser | null, program: string, parameters: readonly string[]) {
  const options: ExecFileOptions = { ...spawnAs(user), timeout: commandDeadlineMs, killSignal: 'SIGKILL' };
  await execute(program, [...parameters], options);
}

/** Asks the kernel, not the permission bits, whether that user can enter and write the directory. */
export async function canUseDirectory(user: ServerUser, directory: string): Promise<boolean> {
  try {
    await runAs(user, '/bin/sh', ['-c', 'cd "$1" && test -w .', 'sh', directory]);
    return true;
  } catch {
    return false;
  }
}

function idOf(which: '-u' | '-g', name: string): number | null {
  try {
    const answer = execFileSync('id', [which, name], {
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: lookupDeadlineMs,
    });
    const id = Number(answer.toString().trim());
    return Number.isInteger(id) ? id : null;
  } catch {
    return null;
  }
}

/** Only the variables that a program needs to run: no PG* settings, no preloads, no secrets. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'SystemRoot', 'TEMP', 'TMP'].map((name) => [name, process.env[name]] as const);
  return { ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)), LC_ALL: 'C', TZ: 'UTC' };
}
