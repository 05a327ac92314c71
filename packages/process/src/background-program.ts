/** A program that nobody calls: it works until it is stopped, or with `--once` does what there is and ends. */
import { describeVariables } from '@svc/config';
import type { Logger } from 'pino';
import { explainStartFailure, readParameters, startFailureCode } from './configuration.ts';
import { dropSecrets } from './drop-secrets.ts';
import { endOnCrash } from './end-on-crash.ts';
import { createLogger, logLevelOf, openLogOutput, processFields } from './logger.ts';
import { programVersion } from './program-version.ts';

export interface BackgroundProgram<Opened> {
  /** For people, in the log. */
  readonly name: string;
  /** What `--help` says before the variables. */
  readonly help: string;
  /** Those that it reads. */
  readonly variables: readonly string[];
  open(env: NodeJS.ProcessEnv, logger: Logger): Promise<Opened>;
  /** Answers the exit code. `stop`: a signal has come, and nothing more is to be begun. */
  runOnce(opened: Opened, logger: Logger, stop: AbortSignal): Promise<number>;
  runUntilStopped(opened: Opened, logger: Logger): Promise<void>;
}

/** Ends the process where it cannot start, and says why. */
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
  // What was given up would keep the process for as long as its answer takes.
  if (stopping.signal.aborted) process.exit();
};
