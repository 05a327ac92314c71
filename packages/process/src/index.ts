/** What every process of a deployment does alike. */
export { type AdminService, createAdminService, type Readiness } from './admin-service.ts';
export { closeOnSignal } from './close-on-signal.ts';
export {
  ConfigurationError,
  explainStartFailure,
  readConfig,
  readParameters,
} from './configuration.ts';
export { type ContentHealth, createContentHealth } from './content-health.ts';
export { endOnCrash } from './end-on-crash.ts';
export { createLogger } from './logger.ts';
export { createJobMetrics, type JobMetrics } from './maintenance/job-metrics.ts';
export { maintenanceJobs } from './maintenance/jobs.ts';
export {
  type Job,
  type Maintenance,
  type Round,
  runRound,
  startMaintenance,
} from './maintenance/loop.ts';
export { reportRound } from './maintenance/report-round.ts';
export { type OpenedService, openService } from './open-service.ts';
