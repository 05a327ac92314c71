/**
 * The conformance runner: a process that asks endpoints which others name. `--once` runs what is waiting, `--help` lists
 * variables.
 */
import { describeVariables, RUNNER_VARIABLES } from '@svc/config';
import {
  closeOnSignal,
  createAdminService,
  createLogger,
  dropSecrets,
  endOnCrash,
  explainStartFailure,
  logLevelOf,
  openLogOutput,
  processFields,
  programVersion,
  type Readiness,
  readParameters,
  runWaiting,
  startConformanceRunner,
  startFailureCode,
} from '@svc/process';
import type { Logger } from 'pino';
import { type OpenedRunner, openRunner } from './compose.ts';

const HELP = `The conformance runner of the verification service: takes the runs that were started over the API and sends the
vectors to their endpoints. Any number of runners may run at once.

  --once    what is waiting, then end; the exit code is 1 if storage could not be asked
  --help    this text
  --version

DATABASE_URL is required; the addresses must be those of the API, whose hosts it never asks. Other variables of the API are not
read: it needs no key and no token.

`;

const main = async (): Promise<void> => {
  const parameters = readParameters(process.argv.slice(2), ['--once', '--help', '--version']);
  if (parameters.has('--help')) return console.log(HELP + describeVariables(RUNNER_VARIABLES));
  if (parameters.has('--version')) return console.log(programVersion);
  const logger = createLogger(logLevelOf(process.env), openLogOutput(), processFields());
  endOnCrash(logger);
  dropSecrets(process.env, { program: 'runner', needed: RUNNER_VARIABLES }, logger);
  const opened = await openRunner(process.env, logger);
  if (parameters.has('--once')) await runOnce(opened);
  else await runUntilStopped(opened, logger);
};

const runUntilStopped = async (
  { config, registry, runner, isReachable, close }: OpenedRunner,
  logger: Logger,
): Promise<void> => {
  const admin = createAdminService({
    registry,
    logger,
    readiness: async () => readinessOf(await isReachable()),
  });
  const { address, port } = await admin.listen(config.adminPort, config.adminHost);
  const running = startConformanceRunner(runner);
  closeOnSignal(async () => {
    await running.stop();
    await admin.close();
    await close();
  }, logger);
  const { sha256, conformanceVersion } = runner.vectors;
  logger.info({ vectors: sha256, conformanceVersion, adminHost: address, adminPort: port }, 'working');
};

const readinessOf = (ok: boolean): Readiness => ({
  ok,
  serves: ok,
  checks: { storage: ok ? 'ok' : 'unreachable' },
});

const runOnce = async ({ runner, close }: OpenedRunner): Promise<void> => {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
  try {
    await runWaiting(runner, stopping.signal);
  } finally {
    await close();
  }
};

main().catch((error: unknown) => {
  console.error(explainStartFailure(error));
  process.exit(startFailureCode(error));
});
