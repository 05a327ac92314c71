/** Peak resident memory of a process, as Linux counts it. */
import { readFileSync, writeFileSync } from 'node:fs';

/** Resets the peak, which then counts from now. */
export const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');

export const peakMegabytes = (pid: number): number => {
  const [, kilobytes] = /^VmHWM:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
};
