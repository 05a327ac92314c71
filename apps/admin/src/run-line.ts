/** Runs one command line of `svc-admin`. */
import { readLine, UsageError } from '@svc/cli/command-line';
import type { Environment } from '@svc/config';
import { programVersion } from '@svc/process';
import { describeError } from './command.ts';
import { PROGRAM } from './program.ts';

/** Resolves with the exit code; rejects with an error for `tellError`. */
export const runLine = async (args: readonly string[], env: Environment): Promise<number> => {
  const line = readLine(PROGRAM, args);
  if (line.kind !== 'command') {
    console.log(line.kind === 'help' ? line.text : programVersion);
    return 0;
  }
  const { command, values, operands } = line;
  if (operands.length !== (command.operand === undefined ? 0 : 1))
    throw new UsageError(
      `${command.name} takes ${command.operand === undefined ? 'no argument' : `one argument, ${command.operand}`}`,
      `Try svc-admin ${command.name} --help.`,
    );
  return command.run(values, env, operands[0] ?? '');
};

export const tellError = (error: unknown, env: Environment): void => {
  console.error(`svc-admin: ${describeError(error, env)}`);
  if (error instanceof UsageError)
    console.error(error.hint === null ? 'Try svc-admin --help.' : `\n${error.hint}`);
};
