/** The faults, one function each. A new one: a function here, and its bar. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Cluster, is, type Machine, until } from './cluster.ts';
import type { Services } from './services.ts';

export interface Scene {
  readonly cluster: Cluster;
  readonly services: Services;
  /** Rises from 0. */
  readonly round: number;
}

export interface Fault {
  readonly title: string;
  /** The longest time without answers that it may cost. */
  readonly outageBarMs: number;
  /** Resolves when the fault is over, which may be long before everything is well again. */
  inject(scene: Scene): Promise<void>;
}

const promoted = (standby: Machine): Promise<true> =>
  until('the standby is promoted', async () => (await is(standby, 'primary')) || null);

/** From a wake at the moment of the promotion to one long after it; Patroni comes to itself with the server, or later. */
const WAKE_AFTER_MS = [0, 500, 2_000, 5_000];
const PATRONI_LAG_MS = [0, 0, 3_000];
const CUT_MS = 35_000;
const ETCD_GONE_MS = 30_000;

export const FAULTS: Readonly<Record<string, Fault>> = {
  none: {
    title: 'nothing happens for twenty seconds, for comparison',
    outageBarMs: 1_000,
    inject: () => delay(20_000),
  },
  postmaster: {
    title: "the primary's postmaster is killed",
    outageBarMs: 5_000,
    async inject({ cluster }) {
      process.kill(cluster.postmasterOf(await cluster.primary()), 'SIGKILL');
    },
  },
  frozen: {
    title: 'the primary machine freezes, and wakes after its standby was promoted',
    outageBarMs: 25_000,
    async inject({ cluster, round }) {
      const primary = await cluster.primary();
      const frozen = cluster.freeze(primary);
      await promoted(cluster.other(primary));
      await delay(WAKE_AFTER_MS[round % WAKE_AFTER_MS.length]);
      await frozen.wake(PATRONI_LAG_MS[round % PATRONI_LAG_MS.length] ?? 0);
    },
  },
  switchover: {
    title: 'a switchover',
    outageBarMs: 3_000,
    inject: ({ cluster }) => cluster.switchover(),
  },
  cut: {
    title: 'the primary is cut off from the standby and from etcd, and reached by the service all the while',
    outageBarMs: 25_000,
    async inject({ cluster }) {
      const primary = await cluster.primary();
      cluster.isolate(primary, true);
      await delay(CUT_MS);
      cluster.isolate(primary, false);
    },
  },
  etcd: {
    title: 'all of etcd is gone for half a minute',
    outageBarMs: 3_000,
    async inject({ cluster }) {
      await cluster.killEtcd();
      await delay(ETCD_GONE_MS);
      cluster.restartEtcd();
    },
  },
};
