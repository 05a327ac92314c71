/**
 * Runs a command of `svc-admin` to its end: as a process in a deep run, and within this process in a sample, which
 * saves the start. `runProgram` runs it as a process in both.
 */

import { type Ended, runCommand } from '@svc/admin/test/run-command.ts';
import { isDeep } from '@svc/testkit/sampled';
import { runProgram } from './run-program.ts';

export const runAdmin = async (
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> => (isDeep ? runProgram('apps/admin', parameters, env) : runCommand(parameters, env));
