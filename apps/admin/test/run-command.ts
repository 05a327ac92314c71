/** Runs a command of `svc-admin` in this process, as `main.ts` does in its own. */
import { format } from 'node:util';
import { readLine } from '@svc/cli/command-line';
import { COULD_NOT_DECIDE } from '@svc/cli/exit-with';
import { vi } from 'vitest';
import { describeError } from '../src/command.ts';
import { PROGRAM } from '../src/program.ts';

export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Nothing else may write to the console meanwhile. */
export const runCommand = async (
  parameters: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> => {
  const written = { out: '', err: '' };
  const collect = (name: 'log' | 'error', to: keyof typeof written) =>
    vi.spyOn(console, name).mockImplementation((...values) => {
      written[to] += `${format(...values)}\n`;
    });
  const spies = [collect('log', 'out'), collect('error', 'err')];
  try {
    const line = readLine(PROGRAM, parameters);
    if (line.kind !== 'command') throw new Error('a text was asked for, not a command');
    const status = await line.command.run(line.values, env, line.operands[0] ?? '');
    return { status, ...written };
  } catch (error) {
    written.err += `${describeError(error, env)}\n`;
    return { status: COULD_NOT_DECIDE, ...written };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
};
