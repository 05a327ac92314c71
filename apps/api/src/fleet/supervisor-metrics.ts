/** Metrics of the supervisor itself. */
import { createLostLinesMetric } from '@svc/process';
import { Counter, Gauge, type Registry } from 'prom-client';

export interface SupervisorMetrics {
  /** A process ended that was not told to. */
  onDeath(): void;
}

export const createSupervisorMetrics = (
  registry: Registry,
  wanted: number,
  countAtWork: () => number,
): SupervisorMetrics => {
  const registers = [registry];
  createLostLinesMetric(registry);
  const start = { name: 'process_start_time_seconds', help: 'Start time of the supervisor.', registers };
  new Gauge(start).set(Date.now() / 1000 - process.uptime());
  const target = { name: 'svc_processes_wanted', help: 'API processes that should be at work.', registers };
  new Gauge(target).set(wanted);
  new Gauge({
    name: 'svc_processes',
    help: 'API processes at work.',
    registers,
    collect() {
      this.set(countAtWork());
    },
  });
  const deaths = new Counter({
    name: 'svc_process_deaths_total',
    help: 'API processes that ended without having been told to.',
    registers,
  });
  return { onDeath: () => deaths.inc() };
};
