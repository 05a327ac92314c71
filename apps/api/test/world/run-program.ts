/** Runs one of our commands to its end, with no environment variable of this process but PATH. */
import { execFile, spawnSync } from 'node:child_process';
import { programFile } from '@svc/testkit/process/program-file';

type Environment = Readonly<Record<string, string>>;
const optionsOf = (env: Environment) =>
  ({ encoding: 'utf8', timeout: 30_000, env: { PATH: process.env.PATH, ...env } }) as const;

export const runProgram = (app: string, parameters: readonly string[], env: Environment = {}) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [programFile(app), ...parameters],
    optionsOf(env),
  );
  return { status, out: stdout, err: stderr };
};

/** The same asynchronously, so that this process can do something meanwhile, such as answer it. */
export const runProgramBeside = (app: string, parameters: readonly string[], env: Environment = {}) =>
  new Promise<ReturnType<typeof runProgram>>((resolve) => {
    const child = execFile(
      process.execPath,
      [programFile(app), ...parameters],
      optionsOf(env),
      (_, out, err) => resolve({ status: child.exitCode, out, err }),
    );
  });
