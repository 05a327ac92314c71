#!/usr/bin/env node
/** `svc-admin`: commands for operators. Exit codes: 0 success, 1 something was found, 2 it could not be determined. */
import { isMainThread } from 'node:worker_threads';
import { readLine, UsageError } from '@svc/cli/command-line';
import { exitWith } from '@svc/cli/exit-with';
import { programVersion, runPackThread } from '@svc/process';
import { describeError } from './command.ts';
import { PROGRAM } from './program.ts';

const main = async (args: readonly string[]): Promise<number> => {
  const line = readLine(PROGRAM, args);
  if (line.kind !== 'command') {
    console.log(line.kind === 'help' ? line.text : programVersion);
    return 0;
  }
  const { command, values, operands } = line;
  if (operands.length !== (command.operand === undefined ? 0 : 1))
    throw new UsageError(
      `${command.name} takes ${command.operand === undefined ? 'no argument' : `one argument, ${command.operand}`}: svc-admin ${command.name} --help says more`,
    );
  return command.run(values, process.env, operands[0] ?? '');
};

const tell = (error: unknown): void => {
  console.error(describeError(error, process.env));
  if (error instanceof UsageError && error.hint !== null) console.error(`\n${error.hint}`);
};

// The thread that packs and proves days runs this program again.
if (isMainThread) await exitWith(() => main(process.argv.slice(2)), { isFinished: true, tell });
else void runPackThread();
