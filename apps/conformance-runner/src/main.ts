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

const HELP = `The conformance runner of the verification service: takes the runs that were started over the API and sends the
vectors to their endpoints. Any number of runners may run at once.

  --once    what is waiting, then end; the exit code is 1 if storage could not be asked
  --help    this text
  --version

DATABASE_URL is required; the addresses must be those of the API, whose hosts it never asks. Other variables of the API are not
read: it needs no key and no token.

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
