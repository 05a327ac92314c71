/** A command of ours that ends by itself, with nothing of this process's environment but PATH. */
import { spawnSync } from 'node:child_process';
import { programFile } from '@svc/testkit/process/program-file';

export const runProgram = (
  app: string,
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [programFile(app), ...parameters], {
    encoding: 'utf8',
    timeout: 30_000,
    env: { PATH: process.env.PATH, ...env },
  });
  return { status, out: stdout, err: stderr };
};
