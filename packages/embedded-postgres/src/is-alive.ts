import { readFileSync } from 'node:fs';

/**
 * Whether the process runs. A zombie (ended, not yet waited for) does not run. A process whose state cannot be read
 * counts as running.
 */
export const isAlive = (pid: number): boolean => isThere(pid) && !hasEnded(pid) && isThere(pid);

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (problem) {
    return (problem as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const hasEnded = (pid: number): boolean => {
  if (process.platform !== 'linux') return false;
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};
