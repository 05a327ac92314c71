/**
 * The worker process: maintenance of a deployment. `--once` does one round of every job, `--help` lists the variables.
 */
import { isMainThread } from 'node:worker_threads';
import { WORKER_VARIABLES } from '@svc/config';
import {
  closeOnSignal,
  createAdminService,
  createColdHealth,
  createContentHealth,
  createFenceMetrics,
  createJobMetrics,
  createPendingApprovals,
  createServiceReadiness,
  deliverDue,
  type JobMetrics,
  type Readiness,
  type Round,
  reportRound,
  runBackgroundProgram,
  runPackThread,
  runRound,
  startEventDeliverer,
  startMaintenance,
} from '@svc/process';
import type { Logger } from 'pino';
import { openWorker, type Worker } from './compose.ts';

const HELP = `The worker of the verification service. Its jobs:

  - close days, check their content, and pack old ones into objects
  - check the domains of hosted Principals again
  - complete revocations that a crash interrupted
  - sign status lists of former keys again
  - add up usage
  - deliver events
  - end conformance runs that no runner works on
  - delete what the service no longer needs
  - create partitions for the days to come

Any number of workers may run at once.

  --once    do one round of every job, then end; the exit code is 1 if a job failed, was held or was stopped by a signal
  --help    this text
  --version

DATABASE_URL is required. Addresses, fence and status keys must be those of the API. The worker does not read the API's other
variables: it signs no Receipts and accepts no API calls.

`;

const runUntilStopped = async (worker: Worker, logger: Logger): Promise<void> => {
  const { config, registry, service, fence, jobs, deliverer, close } = worker;
  const metrics = createJobMetrics(registry, jobs);
  const content = createContentHealth(registry, service.store.checkpoints);
  const cold = createColdHealth(registry, service.store.coldDays);
  createPendingApprovals(registry, service.store.approvals);
  createFenceMetrics(registry, fence);
  const serviceReadiness = createServiceReadiness(worker);
  const readiness = async () => {
    const [ready, ...days] = await Promise.all([serviceReadiness(), content.describe(), cold.describe()]);
    return readinessOf(ready, metrics, { content: days[0], cold: days[1] });
  };
  const admin = createAdminService({ registry, logger, readiness });
  const { address, port } = await admin.listen(config.adminPort, config.adminHost);
  const log = reportRound(logger);
  const report = (round: Round) => {
    metrics.record(round);
    log(round);
  };
  const maintenance = startMaintenance({ ...service, report }, jobs);
  const delivering = deliverer === null ? null : startEventDeliverer(deliverer);
  closeOnSignal(async () => {
    await Promise.all([maintenance.stop(), delivering?.stop()]);
    await admin.close();
    await close();
  }, logger);
  logger.info({ jobs: jobs.map(({ name }) => name), adminHost: address, adminPort: port }, 'working');
};

/** A job that fails does not make the worker unready, since the other jobs go on. */
const readinessOf = (
  { checks, ...service }: Readiness,
  metrics: JobMetrics,
  days: Readonly<Record<'content' | 'cold', string>>,
): Readiness => {
  const failing = metrics.failing();
  const jobs = failing.length === 0 ? 'ok' : `failing: ${failing.join(', ')}`;
  return { ...service, checks: { ...checks, jobs, ...days } };
};

/** Time limit of deliveries with `--once`: without it, new events could keep the process busy for ever. */
const DELIVERS_FOR_MS = 60_000;

const runOnce = async (
  { service, jobs, deliverer, close }: Worker,
  logger: Logger,
  stop: AbortSignal,
): Promise<number> => {
  let hasFailed = false;
  for (const job of jobs) {
    if (stop.aborted) break;
    const round = await runRound(service, job, stop);
    reportRound(logger)(round);
    hasFailed ||= round.outcome === 'failed' || round.outcome === 'held';
  }
  if (deliverer !== null) {
    await deliverDue(deliverer, stop, AbortSignal.timeout(DELIVERS_FOR_MS)).catch((error: unknown) => {
      deliverer.onFailure(error);
      hasFailed = true;
    });
  }
  await close();
  return hasFailed || stop.aborted ? 1 : 0;
};

// The thread that packs days runs this program again.
if (isMainThread)
  runBackgroundProgram({
    ...{ name: 'worker', help: HELP, variables: WORKER_VARIABLES, runOnce, runUntilStopped },
    open: (env, logger) => openWorker(env, logger, new URL(import.meta.url)),
  });
else void runPackThread();
