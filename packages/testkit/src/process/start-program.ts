/** Runs one of our programs as a process of its own: its log, its end, its signals. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const STOP_DEADLINE_MS = 15_000;

export interface Program {
  readonly pid: number;
  /** Every line of its output and errors so far. */
  readonly log: readonly string[];
  /** The first line with this text, as soon as it is written; rejects with the log if the program ends before. */
  line(text: string): Promise<string>;
  /** The exit code, or null after a kill. */
  readonly ended: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  /** Sends SIGTERM, then SIGKILL if the program does not end; answers the exit code. */
  stop(): Promise<number | null>;
}

/**
 * Starts a program, which gets only PATH of this process's environment. `cwd`: its working directory, by default this
 * process's. The caller ends it.
 */
export function startProgram(
  file: string,
  env: Readonly<Record<string, string>>,
  parameters: readonly string[] = [],
  cwd?: string,
): Program {
  const child = spawn(process.execPath, [file, ...parameters], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  });
  const log: string[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      log.push(line);
      for (const look of waiting) look();
    });
  const ended = once(child, 'close').then(([code]) => code as number | null);

  const line = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = log.find((one) => one.includes(text));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
      ended.then((code) => reject(new Error(`exit ${code} before "${text}":\n${log.join('\n')}`)), reject);
    });

  const stop = async () => {
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
    const code = await ended;
    clearTimeout(kill);
    return code;
  };
  return { pid: child.pid ?? -1, log, line, ended, signal: (name) => void child.kill(name), stop };
}
