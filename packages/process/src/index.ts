/** Shared by all processes of a deployment: configuration, logging, metrics, shutdown. */
export { type AdminDeps, type AdminService, createAdminService, type Readiness } from './admin-service.ts';
export { createPendingApprovals } from './approvals-pending.ts';
export { runBackgroundProgram } from './background-program.ts';
export { closeOnSignal } from './close-on-signal.ts';
export { createColdStoreHealth } from './cold-store-health.ts';
export {
  ConfigurationError,
  explainStartFailure,
  MUST_NOT_RESTART,
  readConfig,
  readParameters,
  readRunnerConfig,
  readWorkerConfig,
  startFailureCode,
} from './configuration.ts';
export { type OpenedRuns, openRuns } from './conformance/open-runs.ts';
export { createRunReporter } from './conformance/report-runs.ts';
export { runTaken } from './conformance/run-taken.ts';
export {
  type RunnerDeps,
  runWaiting,
  startConformanceRunner,
} from './conformance/runner.ts';
export { createRunTransport } from './conformance/transport.ts';
export { readVectorSetName, readVectorsBeside } from './conformance/vectors.ts';
export { createColdHealth, createContentHealth } from './content-health.ts';
export { endOnCrash } from './end-on-crash.ts';
export {
  type DelivererDeps,
  deliverDue,
  startEventDeliverer,
} from './events/deliverer.ts';
export { createDeliveryMetrics } from './events/delivery-metrics.ts';
export { openDeliverer } from './events/open-deliverer.ts';
export { createWebhookPort } from './events/transport.ts';
export { createFenceMetrics } from './fence-metrics.ts';
export { createLogger, logLevelOf, openLogOutput, processFields } from './logger.ts';
export { createJobMetrics, type JobMetrics } from './maintenance/job-metrics.ts';
export { maintenanceJobs } from './maintenance/jobs.ts';
export {
  type Job,
  type Round,
  runRound,
  startMaintenance,
} from './maintenance/loop.ts';
export { reportRound } from './maintenance/report-round.ts';
export { describeUnreached } from './open-database.ts';
export { OPERATOR_DEADLINES, type OpenedService, openService, type ServiceSources } from './open-service.ts';
export { openTracing } from './open-tracing.ts';
export { workOnThread } from './packing/on-thread.ts';
export { runPackThread } from './packing/pack-thread.ts';
export { patiently } from './patiently.ts';
export { programVersion } from './program-version.ts';
export { createServiceReadiness } from './readiness.ts';
export { refuseWithoutCold, refuseWithoutFence } from './refuse-without-places.ts';
export { createReplicaMetrics } from './replica-health.ts';
export { ALARMING_EVENTS, createLostLinesMetric } from './service-metrics.ts';
export { createStandbyHealth } from './standby-health.ts';
