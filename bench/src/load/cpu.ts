/** CPU time as the operating system counts it: proc(5), Linux. In milliseconds, in steps of 10. */
import { readFileSync } from 'node:fs';

/** Linux reports times to every program in hundredths of a second (USER_HZ). */
const MS_PER_TICK = 10;

/** User and system time of a process, of its living children, and of those that have ended. */
export function cpuMsOfTree(pid: number): number {
  const stat = readProc(`${pid}/stat`);
  if (stat === null) return 0;
  // The name, in parentheses, may contain any character. Field 3 follows it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK;
  return childrenOf(pid).reduce((sum, child) => sum + cpuMsOfTree(child), own);
}

/** CPU time of all processes and the kernel since the machine started. */
export function cpuMsOfMachine(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] =
    (readProc('stat') ?? '').split('\n', 1)[0]?.split(/\s+/).slice(1).map(Number) ?? [];
  return (user + nice + system + irq + softIrq) * MS_PER_TICK;
}

const childrenOf = (pid: number): number[] =>
  (readProc(`${pid}/task/${pid}/children`) ?? '').split(' ').filter(Boolean).map(Number);

function readProc(path: string): string | null {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return null;
  }
}
