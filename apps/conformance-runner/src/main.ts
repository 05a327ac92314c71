/**
 * The conformance runner: a process that calls endpoints which customers name. `--once` runs what is waiting, `--help`
 * lists the variables.
 */
import { RUNNER_VARIABLES } from '@svc/config';
import {
  closeOnSignal,
  createAdminService,
  type Readiness,
  runBackgroundProgram,
  runWaiting,
  startConformanceRunner,
} from '@svc/process';
import type { Logger } from 'pino';
import { type OpenedRunner, openRunner } from './compose.ts';

const HELP = `The conformance runner of the verification service: takes the conformance runs that were requested over the API, and sends the
vectors to their endpoints. Any number of runners may run at once.

  --once    work on all waiting runs, then end; the exit code is 1 if the database could not be reached
  --help    this text
  --version

DATABASE_URL is required. The addresses must be those of the API: the runner never sends requests to the API's own hosts. It does
not read the API's other variables, and needs no key and no token.

`;

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

const runOnce = async (
  { runner, close }: OpenedRunner,
  _logger: Logger,
  stop: AbortSignal,
): Promise<number> => {
  try {
    await runWaiting(runner, stop);
    return 0;
  } finally {
    await close();
  }
};

runBackgroundProgram({
  ...{ name: 'runner', help: HELP, variables: RUNNER_VARIABLES },
  ...{ open: openRunner, runOnce, runUntilStopped },
});
