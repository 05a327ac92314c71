/** What every process of a deployment does alike. */
export { closeOnSignal } from './close-on-signal.ts';
export {
  ConfigurationError,
  explainStartFailure,
  readConfig,
  readParameters,
} from './configuration.ts';
export { endOnCrash } from './end-on-crash.ts';
export { createLogger } from './logger.ts';
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
