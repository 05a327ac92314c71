/** The worker process: maintenance of a deployment. `--once` does one round of every job, `--help` lists variables. */
import { describeVariables } from '@svc/config';
import {
  closeOnSignal,
  createLogger,
  endOnCrash,
  explainStartFailure,
  readParameters,
  reportRound,
  runRound,
  startMaintenance,
} from '@svc/process';
import type { Logger } from 'pino';
import { openWorker, type Worker } from './compose.ts';

const HELP = `The worker of the verification service: checks the domains of hosted Principals again, completes
revocations that a crash cut off, makes partitions for the days to come. Any number of workers may run at once.

  --once    one round of every job, then end; the exit code is 1 if one failed
  --help    this text

It is configured by the environment of the API, and DATABASE_URL is required:

`;

const main = async (): Promise<void> => {
  const parameters = readParameters(process.argv.slice(2), ['--once', '--help']);
  if (parameters.has('--help')) return console.log(HELP + describeVariables());
  const logger = createLogger('info');
  endOnCrash(logger);
  const worker = await openWorker(process.env, logger);
  if (parameters.has('--once')) process.exitCode = await runOnce(worker, logger);
  else runUntilStopped(worker, logger);
};

const runUntilStopped = ({ service, jobs, close }: Worker, logger: Logger): void => {
  const maintenance = startMaintenance({ store: service.store, report: reportRound(logger) }, jobs);
  closeOnSignal(async () => {
    await maintenance.stop();
    await close();
  }, logger);
  logger.info({ jobs: jobs.map(({ name }) => name) }, 'working');
};

const runOnce = async ({ service, jobs, close }: Worker, logger: Logger): Promise<number> => {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
  let failed = 0;
  for (const job of jobs) {
    const round = await runRound(service.store, job, stopping.signal);
    reportRound(logger)(round);
    if (round.outcome === 'failed') failed = 1;
  }
  await close();
  return failed;
};

main().catch((error: unknown) => {
  console.error(explainStartFailure(error));
  process.exit(1);
});
