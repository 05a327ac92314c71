/** Log and Prometheus metrics of the runner. */
import type { Logger } from 'pino';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RunnerDeps } from './runner.ts';

type Hears = Pick<RunnerDeps, 'onTaken' | 'onRan' | 'onInterrupted' | 'onFailure'>;

const OUTCOMES = ['passed', 'failed', 'error', 'lost'] as const;
const SECONDS = [0.5, 1, 2, 5, 10, 30, 60, 120];

export const createRunReporter = (logger: Logger, registry: Registry): Hears => {
  const registers = [registry];
  const ended = new Counter({
    name: 'svc_conformance_runs_total',
    help: 'Runs of this runner by outcome; lost: its lease lapsed.',
    labelNames: ['outcome'],
    registers,
  });
  const interrupted = new Counter({
    name: 'svc_conformance_runs_interrupted_total',
    help: 'Runs of other runners that this runner found abandoned.',
    registers,
  });
  const underWay = new Gauge({ name: 'svc_conformance_runs', help: 'Runs under way.', registers });
  const durations = new Histogram({
    name: 'svc_conformance_run_duration_seconds',
    help: 'Duration of runs.',
    buckets: SECONDS,
    registers,
  });
  for (const outcome of OUTCOMES) ended.labels({ outcome }).inc(0);
  return {
    onTaken: (runId, endpointHost) => {
      underWay.inc();
      logger.info({ runId, endpointHost }, 'conformance.taken');
    },
    onRan: (ran) => {
      underWay.dec();
      ended.labels({ outcome: ran.outcome }).inc();
      durations.observe(ran.durationMs / 1000);
      logger[ran.outcome === 'lost' ? 'warn' : 'info']({ ...ran }, 'conformance.ended');
    },
    onInterrupted: (runs) => {
      interrupted.inc(runs);
      logger.warn({ runs }, 'conformance.interrupted');
    },
    onFailure: (error) => logger.warn({ err: error }, 'conformance.failed'),
  };
};
