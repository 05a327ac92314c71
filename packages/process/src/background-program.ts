/**
 * A program that answers no requests. It works until it is stopped; with `--once` it does the work that is due and
 * ends.
 */
import { describeVariables } from '@svc/config';
import type { Logger } from 'pino';
import { explainStartFailure, readParameters, startFailureCode } from './configuration.ts';
import { dropSecrets } from './drop-secrets.ts';
import { endOnCrash } from './end-on-crash.ts';
import { createLogger, logLevelOf, openLogOutput, processFields } from './logger.ts';
import { programVersion } from './program-version.ts';

export interface BackgroundProgram<Opened> {
  /** Name for people, in the log. */
  readonly name: string;
  /** The text of `--help` before the variables. */
  readonly help: string;
  /** The variables that the program reads. */
  readonly variables: readonly string[];
  open(env: NodeJS.ProcessEnv, logger: Logger): Promise<Opened>;
  /** Resolves with the exit code. `stop`: aborted by a signal; the program then begins no more work. */
  runOnce(opened: Opened, logger: Logger, stop: AbortSignal): Promise<number>;
  runUntilStopped(opened: Opened, logger: Logger): Promise<void>;
}

/** Ends the process with a message if it cannot start. */
export const runBackgroundProgram = <Opened>(program: BackgroundProgram<Opened>): void => {
  start(program).catch((error: unknown) => {
    console.error(explainStartFailure(error));
    process.exit(startFailureCode(error));
  });
};

const start = async <Opened>(program: BackgroundProgram<Opened>): Promise<void> => {
  const { name, help, variables } = program;
  const parameters = readParameters(process.argv.slice(2), ['--once', '--help', '--version']);
  if (parameters.has('--help')) return console.log(help + describeVariables(variables));
  if (parameters.has('--version')) return console.log(programVersion);
  const logger = createLogger(logLevelOf(process.env), openLogOutput(), processFields());
  endOnCrash(logger);
  dropSecrets(process.env, { program: name, needed: variables }, logger);
  const opened = await program.open(process.env, logger);
  if (!parameters.has('--once')) return program.runUntilStopped(opened, logger);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
  process.exitCode = await program.runOnce(opened, logger, stopping.signal);
  // Abandoned work would keep the process alive until its answer comes.
  if (stopping.signal.aborted) process.exit();
};
