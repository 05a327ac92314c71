/** Closes the same day several times with verifies beside it: on the node that verifies, and on another. */
import { VerifyRequests } from '../fixtures/verify-requests.ts';
import type { World } from '../fixtures/world.ts';
import type { ApiNode } from '../harness/contestants.ts';
import type { Progress } from '../harness/run-benchmark.ts';
import { atMost, type Row } from '../ledger/table.ts';
import { cpuMsOfTree } from '../load/cpu.ts';
import { median, percentile } from '../load/percentile.ts';
import { reopen } from './fill-day.ts';
import { peakMegabytes, resetPeak } from './memory.ts';
import { SteadyLoad, type Timed } from './steady-load.ts';

export interface Closing {
  readonly databaseUrl: string;
  readonly postgresPid: number;
  readonly world: World;
  /** The node that answers the verifies. */
  readonly verifying: ApiNode;
  readonly closing: ApiNode;
  readonly rate: number;
  readonly rounds: number;
  readonly progress: Progress;
}

const QUIET_MS = 5_000;
/** Milliseconds; longer than any closing takes. */
const LONGEST_MS = 40_000;

interface Round {
  readonly seconds: number;
  /** CPU of the closing process and of PostgreSQL during the closing, including the verifies of that time. */
  readonly cpuSeconds: readonly [process: number, postgres: number];
  readonly peak: number;
  readonly quiet: readonly Timed[];
  readonly during: readonly Timed[];
}

export async function measureClosing(what: string, run: Closing): Promise<Row[]> {
  const rounds: Round[] = [];
  for (let round = 0; round <= run.rounds; round++) {
    const one = await closeOnce(run);
    // The first round only warms up.
    if (round === 0) continue;
    rounds.push(one);
    run.progress(
      `${what}: ${one.seconds.toFixed(2)} s, peak ${one.peak.toFixed(0)} MB, verify p99 ${p99Of(one.quiet)} ms quiet, ${p99Of(one.during)} ms beside`,
    );
  }
  const seconds = rounds.map((one) => one.seconds);
  const peak = Math.max(...rounds.map((one) => one.peak));
  const row = (
    name: string,
    p50: string,
    figure: string,
    bar = { bar: '', isMissed: false },
    note = '',
  ): Row => ({
    what: `${what}: ${name}`,
    ...{ p50, figure, note },
    ...bar,
  });
  const latencies = (name: string, timed: readonly Timed[]) => {
    const values = timed.map(({ latencyMs }) => latencyMs);
    const failed = timed.filter(({ isAllowed }) => !isAllowed).length;
    const note = `${values.length} verifies, ${failed} failed, longest ${Math.max(...values).toFixed(0)} ms`;
    return row(`verify ${name}, p99 ms`, percentile(values, 50).toFixed(1), p99Of(timed), undefined, note);
  };
  return [
    row(
      'seconds',
      median(seconds).toFixed(2),
      Math.max(...seconds).toFixed(2),
      atMost(Math.max(...seconds), 5),
      cpuNote(rounds),
    ),
    row('peak MB of the process', '', peak.toFixed(0), atMost(peak, 300)),
    latencies(
      'without closing',
      rounds.flatMap(({ quiet }) => quiet),
    ),
    latencies(
      'beside closing',
      rounds.flatMap(({ during }) => during),
    ),
  ];
}

const p99Of = (timed: readonly Timed[]): string =>
  percentile(
    timed.map(({ latencyMs }) => latencyMs),
    99,
  ).toFixed(1);

const cpuNote = (rounds: readonly Round[]): string => {
  const [process, postgres] = [0, 1].map((i) =>
    median(rounds.map(({ cpuSeconds }) => cpuSeconds[i as 0 | 1])).toFixed(1),
  );
  return `CPU: ${process} s in the process, ${postgres} s in PostgreSQL, verifies included`;
};

async function closeOnce({
  databaseUrl,
  postgresPid,
  world,
  verifying,
  closing,
  rate,
}: Closing): Promise<Round> {
  await reopen(databaseUrl);
  const bodies = new VerifyRequests(world).sign(Math.ceil((rate * (QUIET_MS + LONGEST_MS)) / 1000));
  const load = new SteadyLoad({ url: verifying.url, apiKey: world.relyingParty.apiKey }, bodies, rate);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const quietMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  resetPeak(closing.program.pid);
  const cpuMs = () => [cpuMsOfTree(closing.program.pid), cpuMsOfTree(postgresPid)] as const;
  const cpuBefore = cpuMs();
  const beganMs = performance.now();
  const response = await fetch(`${closing.origin}/checkpoints/close`, {
    method: 'POST',
    headers: { authorization: `Bearer ${closing.adminToken}` },
  });
  const endMs = performance.now();
  const cpuAfter = cpuMs();
  const text = await response.text();
  await load.stop();
  if (!text.includes('"closed":["')) throw new Error(`POST /checkpoints/close: ${response.status} ${text}`);
  return {
    seconds: (endMs - beganMs) / 1000,
    cpuSeconds: [(cpuAfter[0] - cpuBefore[0]) / 1000, (cpuAfter[1] - cpuBefore[1]) / 1000],
    peak: peakMegabytes(closing.program.pid),
    quiet: load.between(quietMs, beganMs),
    during: load.between(beganMs, endMs),
  };
}
