/** Starts the hosts of hosted Principals; they end with the test process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Bodies by host name and path. */
export type HostAnswers = Record<string, Record<string, string>>;

export interface HostsProcess {
  readonly url: string;
  stop(): void;
}

/** The source file, for `withSourceProgram`. */
export const HOSTS_PROGRAM = fileURLToPath(new URL('./hosts-program.ts', import.meta.url));

/** `program`: path of the bundled file. */
export const startHostsProcess = async (program: string, answers: HostAnswers): Promise<HostsProcess> => {
  const child = spawn(process.execPath, [program, JSON.stringify(answers)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [line] = await once(child.stdout ?? child, 'data');
  return { url: String(line).trim(), stop: () => child.kill() };
};
