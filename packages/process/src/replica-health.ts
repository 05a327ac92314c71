/** Reports on the replica that reports are read from (`DATABASE_READ_URL`), in metrics, log and `/readyz`. */
import type { Log, ReplicaState, Store } from '@svc/service';
import { Counter, type Registry } from 'prom-client';
import { gauge } from './gauge.ts';

type Replicated = Pick<Store, 'describeReplica'>;

export const createReplicaMetrics = (registry: Registry, store: Replicated): void => {
  gauge(registry, 'svc_replica_behind_seconds', {
    help: 'Greatest age that the data of the replica for reports may have; +Inf: it was never in step.',
    read: () => (store.describeReplica()?.behindMs ?? 0) / 1_000,
  });
  new Counter({
    name: 'svc_report_reads_total',
    help: 'Reports (pages of lists and exports, statistics, usage, public metrics) by the server that they were read on.',
    labelNames: ['server'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [server, count] of Object.entries(store.describeReplica()?.reads ?? {}))
        this.labels({ server }).inc(count);
    },
  });
};

/** Logs when reports have been read only on the primary for 5 s, and when they are read on the replica again. */
export const createReplicaReporter =
  (log: Log) =>
  ({ fault, behindMs, reads: { replica, primary } }: ReplicaState): void => {
    const behindSeconds = Number.isFinite(behindMs) ? Math.round(behindMs / 1_000) : null;
    if (fault === null) log.info('replica.in_step', { behindSeconds, replica, primary });
    else log.warn('replica.out_of_step', { problem: fault, behindSeconds, replica, primary });
  };
