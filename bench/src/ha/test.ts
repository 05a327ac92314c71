/**
 * `npm run ha:test [-- --fault NAME …] [--rounds N] [--minutes N] [--no-fence] [--picture FILE]`: faults under load on the reference
 * deployment of `deploy/ha/`, each round held against what clients were answered. Ends with 1 when anything was lost or a bar was
 * missed. `--picture`: what the dashboard of `deploy/observability/` shows of the run; needs Debian's prometheus and chromium.
 */
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fillPanels } from '../dashboard/panels.ts';
import { drawDashboard } from '../dashboard/picture.ts';
import { startPrometheus } from '../dashboard/prometheus.ts';
import { Cleanup } from '../harness/cleanup.ts';
import type { Place } from '../harness/contestants.ts';
import { percentile } from '../load/percentile.ts';
import { Cluster } from './cluster.ts';
import { FAULTS, type Fault } from './faults.ts';
import { Ledger, type Verdict } from './ledger.ts';
import { Load } from './load.ts';
import { Processes } from './processes.ts';
import { OWN_APPS, type Services, startServices } from './services.ts';

const CALM_MS = 5_000;
const REVOCATIONS_PER_SECOND = 1.5;

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--' && arg !== 'ha:test'),
  options: {
    fault: { type: 'string', multiple: true, default: Object.keys(FAULTS) },
    rounds: { type: 'string', default: '1' },
    // Instead of rounds: one fault after the other, for so long.
    minutes: { type: 'string' },
    rate: { type: 'string', default: '100' },
    'no-fence': { type: 'boolean', default: false },
    apps: { type: 'string', default: OWN_APPS },
    keep: { type: 'boolean', default: false },
    picture: { type: 'string' },
  },
});

const rates = { verifiesPerSecond: Number(values.rate), revocationsPerSecond: REVOCATIONS_PER_SECOND };
const cleanup = new Cleanup();
const began = performance.now();
const say = (line: string) =>
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);

const isClean = (verdict: Verdict) =>
  verdict.lostReceipts +
    verdict.lostRevocations +
    verdict.lateAllows +
    verdict.doubleSpends +
    verdict.overdrawn ===
  0;

const describe = (verdict: Verdict) =>
  `${verdict.receipts} Receipts, ${verdict.lostReceipts} lost; ${verdict.revocations} revocations, ${verdict.lostRevocations} lost; ` +
  `${verdict.lateAllows} late ALLOWs; ${verdict.doubleSpends} double spends; ${verdict.overdrawn} overdrawn`;

interface Turn {
  readonly name: string;
  readonly fault: Fault;
  /** Of this fault, from 0. */
  readonly round: number;
}

/** All rounds of one fault before the next; with `--minutes` each in its turn, until the time is over. */
function* schedule(): Generator<Turn> {
  const faults = values.fault.map((name) => {
    const fault = FAULTS[name];
    if (fault === undefined) throw new Error(`--fault is one of ${Object.keys(FAULTS).join(', ')}`);
    return { name, fault };
  });
  if (values.minutes === undefined) {
    for (const one of faults)
      for (let round = 0; round < Number(values.rounds); round++) yield { ...one, round };
    return;
  }
  const endsMs = performance.now() + Number(values.minutes) * 60_000;
  for (let round = 0; ; round++)
    for (const one of faults) {
      if (performance.now() >= endsMs) return;
      yield { ...one, round };
    }
}

/** As an operator's Prometheus and Grafana would. */
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
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'svc-ha-'));
  chmodSync(folder, 0o755);
  if (!values.keep) cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  const place = { folder, cleanup };
  const cluster = await Cluster.start(place);
  const services = await startServices(place, cluster, { apps: values.apps, hasFence: !values['no-fence'] });
  const watched = values.picture === undefined ? null : await watch(place, services);
  say(`up in ${folder}`);
  const all = new Ledger();
  const processes = new Processes();
  const outages = new Map<string, number[]>();
  for (const { name, fault, round } of schedule()) {
    if (round === 0) say(`${name}: ${fault.title}`);
    await cluster.untilHealthy();
    const ledger = new Ledger();
    const load = await Load.start(services, ledger, `${name}-${round}`, rates);
    await delay(CALM_MS);
    const faultMs = performance.now();
    await fault.inject({ cluster, services, round });
    await cluster.untilHealthy();
    await delay(CALM_MS);
    await load.stop();
    processes.look(services.pids());
    const { outageMs, p99Ms } = ledger.describe(faultMs, performance.now() - CALM_MS / 2);
    const verdict = await ledger.examine(cluster);
    const { code } = await services.fsck();
    outages.set(name, [...(outages.get(name) ?? []), outageMs]);
    const isAnswered = fault.noneGivenUp === undefined || load.failed + load.leftOut === 0;
    const isGood = isClean(verdict) && code === 0 && outageMs <= fault.outageBarMs && isAnswered;
    if (!isGood) process.exitCode = 1;
    say(
      `  ${name} ${round + 1}: ${describe(verdict)}; fsck ${code}; ${(outageMs / 1000).toFixed(1)} s without answers, ` +
        `p99 ${p99Ms.toFixed(0)} ms; ${load.failed} given up, ${load.leftOut} not sent${isGood ? '' : '  BAR MISSED'}`,
    );
    for (const one of ledger.answered) all.answered.push(one);
    for (const [grant, ms] of ledger.revokedMs) all.revokedMs.set(grant, ms);
    for (const [grant, uses] of ledger.uses) all.uses.set(grant, uses);
  }
  for (const [name, each] of outages)
    say(
      `${name}: outage median ${(percentile(each, 50) / 1000).toFixed(1)} s, longest ${(Math.max(...each) / 1000).toFixed(1)} s ` +
        `(bar ${(FAULTS[name]?.outageBarMs ?? 0) / 1000} s), ${each.length} rounds`,
    );
  for (const line of processes.describe()) say(line);
  const verdict = await all.examine(cluster);
  say(`in the end: ${describe(verdict)}; fsck ${(await services.fsck()).code}`);
  if (!isClean(verdict)) process.exitCode = 1;
  if (values.picture !== undefined) await watched?.draw(values.picture);
} catch (problem) {
  console.error(problem);
  process.exitCode = 1;
} finally {
  await cleanup.run();
}
// Connections that a fault has left half open would keep the process for minutes.
process.exit();
