/**
 * One process owns a data folder with its embedded database and its demonstration file. `instance.pid` contains the
 * owner's process id and start time. With the start time, an id that was reused after a crash, or in another run of a
 * container, is not taken for the owner. Processes on other hosts are not detected.
 */
import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '@svc/embedded-postgres/is-alive';

export type InstanceLock =
  | { readonly held: true; release(): void }
  /** The live process that holds the lock. */
  | { readonly held: false; readonly ownerPid: number };

const LOOKUP_MS = 5_000;
const ATTEMPTS = 10;

/** Takes the lock of an existing folder; a lock whose holder has ended is taken over. */
export const lockInstance = (dataDir: string): InstanceLock => {
  const path = join(dataDir, 'instance.pid');
  const own = `${process.pid} ${beginningOf(process.pid)}\n`;
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, own);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // Linked, not written: a reader always finds the whole file, and only one of two starting processes creates it.
      if (link(draft, path)) return held(path, own);
      const found = read(path);
      const ownerPid = found === null ? null : livingOwner(found);
      if (ownerPid !== null) return { held: false, ownerPid };
      if (found !== null) removeStale(path, found);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  throw new Error(`${path} changes again and again`);
};

const held = (path: string, own: string): InstanceLock => {
  const release = () => {
    process.off('exit', release);
    if (read(path) === own) rmSync(path, { force: true });
  };
  process.once('exit', release);
  return { held: true, release };
};

const link = (from: string, to: string): boolean => {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

/**
 * Moves the file away before removing it. If another process was faster, the moved file is that process's lock and is
 * put back.
 */
const removeStale = (path: string, stale: string): void => {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (read(aside) !== stale) link(aside, path);
  rmSync(aside, { force: true });
};

const read = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};

const livingOwner = (text: string): number | null => {
  const [, number = '', beginning = ''] = /^([1-9][0-9]*) (.*)\n$/.exec(text) ?? [];
  const pid = Number(number);
  if (number === '' || !isAlive(pid)) return null;
  return beginning === beginningOf(pid) ? pid : null;
};

/** Start time of a process, as the system reports it; empty where it does not, and then only the id is compared. */
const beginningOf = (pid: number): string => {
  try {
    if (process.platform === 'linux') {
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      // The name in parentheses may contain spaces; the 20th field after it is the start time (proc(5)).
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      return `${boot} ${fields[19] ?? ''}`;
    }
    if (process.platform === 'win32') return '';
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { timeout: LOOKUP_MS })
      .toString()
      .trim();
  } catch {
    return '';
  }
};
