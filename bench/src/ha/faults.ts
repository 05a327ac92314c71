/** The faults, one function each. To add one, write a function here and its bar. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Cluster, is, type Machine, until } from './cluster.ts';
import type { Link } from './link.ts';
import type { Node, Services } from './services.ts';

export interface Scene {
  readonly cluster: Cluster;
  readonly services: Services;
  /** Links from the nodes to the database. */
  readonly links: readonly Link[];
  /** Number of the round, from 0. */
  readonly round: number;
}

export interface Fault {
  readonly title: string;
  /** The longest time without answers that the fault may cause, in milliseconds. */
  readonly outageBarMs: number;
  /** Every request of a client that repeats as the SDKs do must be answered. */
  readonly noneGivenUp?: true;
  /** No session may be left behind on the server. */
  readonly noneLeftBehind?: true;
  /** The nodes first run the last release, on a database of that release. */
  readonly fromRelease?: true;
  /**
   * Requires that `deploy/ha/patroni-version` accepts the installed Patroni: an older one may leave two servers that do
   * not come together again.
   */
  readonly needsPatroni?: true;
  /** Resolves when the fault is over, which may be long before the deployment is healthy again. */
  inject(scene: Scene): Promise<void>;
}

const promoted = (standby: Machine): Promise<true> =>
  until('the standby is promoted', async () => (await is(standby, 'primary')) || null);

/**
 * Milliseconds from the promotion to the wake: one soon after it, others later. Patroni wakes with the server, or
 * later.
 */
const WAKE_AFTER_MS = [500, 2_000, 5_000];
const PATRONI_LAG_MS = [0, 0, 3_000];
/** Milliseconds after the promotion during which the machine stays cut off. It must not decide in that time. */
const CUT_STAYS_MS = 5_000;
const ETCD_GONE_MS = 30_000;
const NODE_FROZEN_MS = 10_000;
/** Milliseconds between two faults in a row. */
const APART_MS = 3_000;
const TIMES = 10;
/** Milliseconds for which a link is silent or slow each time. */
const UNWELL_MS = 3_000;
const SLOWER_MS = 200;

/** Selects each node in turn; each reaches the database by another route. */
const nodeOf = ({ services, round }: Scene): Node => {
  const node = services.nodes[round % services.nodes.length];
  if (node === undefined) throw new Error('there are two nodes');
  return node;
};

/** Ten times in a row: begins a fault on each link and, for a fault that lasts, ends it after a while. */
const tenTimes =
  (begin: (link: Link) => void, end?: (link: Link) => void) =>
  async ({ links }: Scene): Promise<void> => {
    for (let i = 0; i < TIMES; i++) {
      for (const link of links) begin(link);
      if (end !== undefined) {
        await delay(UNWELL_MS);
        for (const link of links) end(link);
      }
      await delay(APART_MS);
    }
  };

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
  'woken-early': {
    title: 'the primary machine freezes, and wakes at the moment at which its standby is promoted',
    outageBarMs: 25_000,
    needsPatroni: true,
    async inject({ cluster }) {
      const primary = await cluster.primary();
      const frozen = cluster.freeze(primary);
      await promoted(cluster.other(primary));
      await frozen.wake(0);
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
      await promoted(cluster.other(primary));
      await delay(CUT_STAYS_MS);
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
  'node-killed': {
    title: 'an API node is killed, and started again',
    outageBarMs: 1_000,
    noneGivenUp: true,
    async inject(scene) {
      const node = nodeOf(scene);
      node.program.process.kill('SIGKILL');
      await delay(APART_MS);
      await node.restart();
    },
  },
  'node-frozen': {
    title: 'an API node stands still for ten seconds',
    outageBarMs: 1_000,
    noneGivenUp: true,
    async inject(scene) {
      const { process } = nodeOf(scene).program;
      process.kill('SIGSTOP');
      await delay(NODE_FROZEN_MS);
      process.kill('SIGCONT');
    },
  },
  'nodes-restarted': {
    title: 'the API nodes are ended and started again, one after the other',
    outageBarMs: 1_000,
    noneGivenUp: true,
    async inject({ services }) {
      for (const node of services.nodes) {
        await node.program.stop();
        await node.restart();
        await delay(APART_MS);
      }
    },
  },
  sessions: {
    title: 'every session of the service is ended by the server, ten times in a row',
    outageBarMs: 2_000,
    noneGivenUp: true,
    async inject({ cluster }) {
      for (let i = 0; i < TIMES; i++) {
        await cluster.endSessions();
        await delay(APART_MS);
      }
    },
  },
  lost: {
    title:
      'every connection of the nodes to the database is lost without a word on both sides, ten times in a row',
    outageBarMs: 2_000,
    noneLeftBehind: true,
    inject: tenTimes((link) => link.lose()),
  },
  'half-open': {
    title: "every connection's end at the server is closed and the nodes are not told, ten times in a row",
    outageBarMs: 2_000,
    noneLeftBehind: true,
    inject: tenTimes((link) => link.leaveHalfOpen()),
  },
  reset: {
    title: 'every connection of the nodes to the database is reset, ten times in a row',
    outageBarMs: 2_000,
    noneGivenUp: true,
    noneLeftBehind: true,
    inject: tenTimes((link) => {
      link.set('refused');
      link.set('whole');
    }),
  },
  silent: {
    title: 'nothing passes between the nodes and the database for three seconds, ten times in a row',
    outageBarMs: UNWELL_MS + 2_000,
    noneLeftBehind: true,
    inject: tenTimes(
      (link) => link.set('silent'),
      (link) => link.set('whole'),
    ),
  },
  slow: {
    title: 'the database is 200 ms farther away for three seconds, ten times in a row',
    outageBarMs: 2_000,
    noneLeftBehind: true,
    inject: tenTimes(
      (link) => {
        link.delayMs = SLOWER_MS / 2;
      },
      (link) => {
        link.delayMs = 0;
      },
    ),
  },
  upgrade: {
    title:
      'the API nodes of the last release are replaced by this version, one after the other, and the first of it migrates',
    outageBarMs: 1_000,
    noneGivenUp: true,
    fromRelease: true,
    async inject({ services }) {
      for (const node of services.nodes) {
        await node.program.stop();
        await node.restart();
        await delay(APART_MS);
      }
    },
  },
};
