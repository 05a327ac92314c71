/**
 * `npm run ha:test [-- --fault NAME …] [--rounds N] [--minutes N] [--fence-age MS] [--no-fence] [--picture FILE]`:
 * faults under load on the reference deployment of `deploy/ha/`. Each round is compared with what clients were
 * answered. Ends with 1 when anything was lost or a bar was missed. `--picture` draws what the dashboard of
 * `deploy/observability/` shows of the run; it needs Debian's prometheus and chromium.
 */
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fillPanels } from '../dashboard/panels.ts';
import { drawDashboard } from '../dashboard/picture.ts';
import { startPrometheus } from '../dashboard/prometheus.ts';
import { Cleanup } from '../harness/cleanup.ts';
import { count, flag, path, readOptions, some } from '../harness/command-line.ts';
import type { Place } from '../harness/contestants.ts';
import { percentile } from '../load/percentile.ts';
import { Cluster } from './cluster.ts';
import { FAULTS, type Fault } from './faults.ts';
import { describeVerdict, isClean, Ledger } from './ledger.ts';
import { Link } from './link.ts';
import { Load } from './load.ts';
import { lookAtPatroni } from './patroni.ts';
import { makePlace } from './place.ts';
import { Processes } from './processes.ts';
import { unpackReleasedApi } from './released.ts';
import { say } from './say.ts';
import {
  OWN_APPS,
  type Routes,
  type Services,
  type ServicesOptions,
  SHARED_FENCE_AGE_MS,
  startServices,
} from './services.ts';
import { countLeftBehind } from './sessions.ts';

const CALM_MS = 5_000;
/** Rounds before a new database is made: fsck reads all of it after each. */
const ROUNDS_OF_A_DATABASE = 25;
const REVOCATIONS_PER_SECOND = 1.5;

/** Omits faults that the installed Patroni is known not to survive; they can be run by name. */
const faultsOf = ({ isGood }: typeof patroni): string[] =>
  Object.keys(FAULTS).filter((name) => isGood || FAULTS[name]?.needsPatroni === undefined);

const patroni = lookAtPatroni();

const values = readOptions('ha:test', {
  about: `Faults under load on the deployment of deploy/ha: two servers under Patroni, three members of etcd, HAProxy, two nodes, a worker.
Each answer that a client got is looked for afterwards; ends with 1 where one is lost or a bar is missed (docs/availability.md says what each fault is and
its bar). Takes Debian's patroni, etcd-server, haproxy, postgresql-15 and tini, and some 40 to 90 s a round.
`,
  command: 'npm run ha:test [-- options]',
  options: {
    fault: some(
      Object.keys(FAULTS),
      `one of them alone, as often as given: ${Object.keys(FAULTS).join(', ')}`,
      faultsOf(patroni),
    ),
    rounds: count({ default: 1, least: 1, most: 10_000, text: 'of each' }),
    minutes: count({
      ...{ default: null, least: 1, most: 100_000 },
      text: 'instead: one fault after the other for so long',
    }),
    rate: count({ default: 100, least: 1, most: 10_000, text: 'verifications a second' }),
    'fence-age': count({
      ...{ default: SHARED_FENCE_AGE_MS, least: 1, most: 1e7, takes: 'MS' },
      text: 'what a node may be without its fence',
    }),
    'no-fence': flag('without one, to see what it is for'),
    apps: path('of the built apps, default those of this clone', 'FOLDER'),
    picture: path('what the dashboard shows of the run, as a PNG; needs prometheus and chromium'),
    keep: flag('leave the folder with the logs'),
  },
  more: 'PATRONI=FILE takes another Patroni than the one that is installed.',
});
const apps = values.apps ?? OWN_APPS;

const rates = { verifiesPerSecond: values.rate, revocationsPerSecond: REVOCATIONS_PER_SECOND };
const fenceMaxAgeMs = values['no-fence'] ? null : values['fence-age'];
const cleanup = new Cleanup();
interface Turn {
  readonly name: string;
  readonly fault: Fault;
  /** Number of this fault's round, from 0. */
  readonly round: number;
}

/** One node connects through HAProxy, the other names both servers itself; both use links. */
async function openRoutes(cluster: Cluster): Promise<{ links: readonly Link[]; routes: Routes }> {
  const toProxy = await Link.open(cluster.proxyPort);
  const direct = await Promise.all(cluster.machines.map(({ port }) => Link.open(port)));
  const routes = {
    first: cluster.urlOf(toProxy.port),
    second: cluster.urlOf(...direct.map(({ port }) => port)),
    others: cluster.urlOf(cluster.proxyPort),
  };
  const links = [toProxy, ...direct];
  cleanup.add(() => {
    for (const link of links) link.close();
  });
  return { links, routes };
}

/** All rounds of one fault before the next; with `--minutes` each fault in turn, until the time is over. */
function* schedule(): Generator<Turn> {
  const faults = values.fault.map((name) => {
    const fault = FAULTS[name];
    if (fault === undefined) throw new Error(`--fault is one of ${Object.keys(FAULTS).join(', ')}`);
    return { name, fault };
  });
  if (values.minutes === null) {
    for (const one of faults) for (let round = 0; round < values.rounds; round++) yield { ...one, round };
    return;
  }
  const endsMs = performance.now() + values.minutes * 60_000;
  for (let round = 0; ; round++)
    for (const one of faults) {
      if (performance.now() >= endsMs) return;
      yield { ...one, round };
    }
}

/** Collects metrics and draws the dashboard as an operator's Prometheus and Grafana would. */
async function watch(place: Place, { nodes, workerAdminOrigin }: Services) {
  const addressOf = (origin: string) => new URL(origin).host;
  const prometheus = await startPrometheus(place, [
    ...nodes.map(({ name, adminOrigin }) => ({ name, address: addressOf(adminOrigin) })),
    { name: 'worker', address: addressOf(workerAdminOrigin) },
  ]);
  const fromMs = Date.now();
  return {
    async draw(file: string): Promise<void> {
      const panels = await fillPanels(prometheus, fromMs, Date.now());
      await drawDashboard(panels, file);
      const empty = panels.filter(({ type, lines }) => type !== 'row' && lines.length === 0);
      say(
        `the dashboard is in ${file}; nothing to show in: ${empty.map(({ title }) => title).join(', ') || 'no panel'}`,
      );
    },
  };
}

try {
  const place = makePlace('svc-ha-', cleanup, values.keep);
  const cluster = await Cluster.start(place);
  const { links, routes } = await openRoutes(cluster);
  const start = (options: ServicesOptions = {}): Promise<Services> =>
    startServices(place, routes, { apps, fenceMaxAgeMs, ...options });
  let services = await start();
  const watched = values.picture === null ? null : await watch(place, services);
  say(`up in ${place.folder}; ${patroni.said}`);
  let all = new Ledger();
  /** Examines everything that was answered since the database was created. */
  const examineAll = async () => {
    const verdict = await all.examine(cluster);
    const { code } = await services.fsck();
    say(`in the end: ${describeVerdict(verdict)}; fsck ${code}`);
    if (!isClean(verdict) || code !== 0) process.exitCode = 1;
  };
  let roundsOfDatabase = 0;
  const startAnew = async (options: ServicesOptions = {}) => {
    await examineAll();
    await services.stop();
    await cluster.remakeDatabase();
    all = new Ledger();
    roundsOfDatabase = 0;
    services = await start(options);
  };
  const processes = new Processes();
  const outages = new Map<string, number[]>();
  try {
    for (const { name, fault, round } of schedule()) {
      if (round === 0) say(`${name}: ${fault.title}`);
      await cluster.untilHealthy();
      if (fault.fromRelease) await startAnew({ firstApi: unpackReleasedApi(apps, cleanup) });
      // A picture shows one run of the same processes.
      else if (roundsOfDatabase >= ROUNDS_OF_A_DATABASE && watched === null) await startAnew();
      roundsOfDatabase += 1;
      const ledger = new Ledger();
      const load = await Load.start(services, ledger, `${name}-${round}`, rates);
      await delay(CALM_MS);
      const faultMs = performance.now();
      await fault.inject({ cluster, services, links, round });
      await cluster.untilHealthy();
      await delay(CALM_MS);
      const left = fault.noneLeftBehind ? await countLeftBehind(cluster, services) : 0;
      await load.stop();
      processes.look(services.pids());
      const { outageMs, p99Ms } = ledger.describe(faultMs, performance.now() - CALM_MS / 2);
      const verdict = await ledger.examine(cluster);
      const { code } = await services.fsck();
      outages.set(name, [...(outages.get(name) ?? []), outageMs]);
      const isAnswered = fault.noneGivenUp === undefined || load.failed + load.leftOut === 0;
      const isGood =
        isClean(verdict) && code === 0 && outageMs <= fault.outageBarMs && isAnswered && left === 0;
      if (!isGood) process.exitCode = 1;
      say(
        `  ${name} ${round + 1}: ${describeVerdict(verdict)}; fsck ${code}; ${(outageMs / 1000).toFixed(1)} s without answers, ` +
          `p99 ${p99Ms.toFixed(0)} ms; ${load.failed} given up, ${load.leftOut} not sent; load average ${loadavg()[0]?.toFixed(0)}${left > 0 ? `; ${left} sessions left behind` : ''}${isGood ? '' : '  BAR MISSED'}`,
      );
      for (const one of ledger.answered) all.answered.push(one);
      for (const [grant, ms] of ledger.revokedMs) all.revokedMs.set(grant, ms);
      for (const [grant, uses] of ledger.uses) all.uses.set(grant, uses);
    }
  } catch (problem) {
    // The results so far are still printed.
    say(`the run ends early: ${String(problem)}`);
    process.exitCode = 1;
  }
  for (const [name, each] of outages)
    say(
      `${name}: outage median ${(percentile(each, 50) / 1000).toFixed(1)} s, longest ${(Math.max(...each) / 1000).toFixed(1)} s ` +
        `(bar ${(FAULTS[name]?.outageBarMs ?? 0) / 1000} s), ${each.length} rounds`,
    );
  for (const line of processes.describe()) say(line);
  await examineAll();
  if (values.picture !== null) await watched?.draw(values.picture);
} catch (problem) {
  console.error(problem);
  process.exitCode = 1;
} finally {
  await cleanup.run();
}
// Connections that a fault has left half open would keep the process running for minutes.
process.exit();
