/** Metrics of every process of a deployment: what holds decisions, which faults were logged, and the process itself. */
import { HOLD_NAMES, type Holds, type KeySet, type Store } from '@svc/service';
import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { countLostLines } from './logger.ts';
import { programVersion } from './program-version.ts';

/**
 * Events with an alert. Each is 0 from the start: Prometheus sees no increase in a series that begins with 1, so the
 * first event would be missed.
 */
export const ALARMING_EVENTS = [
  'authzen.failed',
  'authzen.not_evaluated',
  'checkpoint.mismatch',
  'clock.not_marked',
  'clock.not_read',
  'commit.ambiguous',
  'content.mismatch',
  'did_document.not_refreshed',
  'fence.refuses',
  'fence.went_back',
  'revocation.not_completed',
  'status_list.unusable',
  'storage',
  'verify.clock',
] as const;

/** Counts events of the log. The code contains all event names, so there are few labels. */
export type EventCounter = (event: string) => void;

export const createEventCounter = (registry: Registry): EventCounter => {
  const events = new Counter({
    name: 'svc_log_events_total',
    help: 'Events logged as warnings or errors, by name.',
    labelNames: ['event'],
    registers: [registry],
  });
  for (const event of ALARMING_EVENTS) events.labels({ event }).inc(0);
  return (event) => events.labels({ event }).inc();
};

/** The key sets by what they sign. A set is read at each scrape, since a rotation replaces it. */
interface SigningSets {
  readonly receiptKeys: Pick<KeySet, 'signer'>;
  readonly statusKeys: Pick<KeySet, 'signer'>;
}

export const createServiceMetrics = (
  registry: Registry,
  holds: Pick<Holds, 'list'>,
  keys: SigningSets,
): void => {
  new Gauge({
    name: 'svc_holds',
    help: '1 for each reason for which this process does not decide; /readyz says more.',
    labelNames: ['hold'],
    registers: [registry],
    collect() {
      const held = new Set(holds.list().map(({ name }) => name));
      for (const hold of HOLD_NAMES) this.labels({ hold }).set(held.has(hold) ? 1 : 0);
    },
  });
  new Gauge({
    name: 'svc_signer_gone',
    help: '1 while the signer outside of this process (receipt: Receipts; status: status lists and checkpoints) does not answer.',
    labelNames: ['signer'],
    registers: [registry],
    collect() {
      for (const [signer, set] of [
        ['receipt', keys.receiptKeys],
        ['status', keys.statusKeys],
      ] as const)
        this.labels({ signer }).set((set.signer.findFault?.() ?? null) === null ? 0 : 1);
    },
  });
  createProcessMetrics(registry);
};

/** The name of the library that makes and checks signatures in this process. */
export const createEd25519Metric = (registry: Registry, { name }: { readonly name: string }): void => {
  new Gauge({
    name: 'svc_ed25519_info',
    help: 'Always 1; by: the library that checks and makes Ed25519 signatures in this process.',
    labelNames: ['by'],
    aggregator: 'max',
    registers: [registry],
  }).set({ by: name }, 1);
};

/** Connections to the database, by purpose. */
export const createPoolMetrics = (registry: Registry, store: Pick<Store, 'describePools'>): void => {
  new Gauge({
    name: 'svc_storage_connections',
    help: 'Connections to the database by pool: busy, idle, and callers waiting for one.',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const { pool, ...states } of store.describePools())
        for (const [state, count] of Object.entries(states)) this.labels({ pool, state }).set(count);
    },
  });
};

/** Number of log lines that this process could not write. */
export const createLostLinesMetric = (registry: Registry): void => {
  new Counter({
    name: 'svc_log_lines_lost_total',
    help: 'Lines of the log that could not be written: its disk was full, or nothing read them for long.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(countLostLines());
    },
  });
};

/** The process itself, and its versions. */
export const createProcessMetrics = (registry: Registry): void => {
  collectDefaultMetrics({ register: registry });
  createLostLinesMetric(registry);
  new Gauge({
    name: 'svc_build_info',
    help: 'Always 1: the version of the service and of Node that the process runs.',
    labelNames: ['version', 'node'],
    aggregator: 'max',
    registers: [registry],
  }).set({ version: programVersion, node: process.version }, 1);
};
