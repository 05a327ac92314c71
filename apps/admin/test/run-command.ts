/** Runs a command of `svc-admin` in this process, with the code that `main.ts` runs in its own. */
import { format } from 'node:util';
import { COULD_NOT_DECIDE } from '@svc/cli/exit-with';
import { vi } from 'vitest';
import { runLine, tellError } from '../src/run-line.ts';

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
    const status = await runLine(parameters, env).catch((error: unknown) => {
      tellError(error, env);
      return COULD_NOT_DECIDE;
    });
    return { status, ...written };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
};
