/** Sends the requests whose time has a bar in rounds: every one once per round, for the given number of rounds. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../harness/run-benchmark.ts';
import { percentile } from '../load/percentile.ts';
import { type Case, casesOf, METRICS_CASE } from './cases.ts';
import { get, type Nodes, Turns } from './nodes.ts';
import type { Ledger } from './prepare.ts';
import { atMost, type Row } from './table.ts';

export interface RequestsRun {
  readonly nodes: Nodes;
  readonly ledger: Ledger;
  readonly samples: number;
  readonly progress: Progress;
  /** The bar of lists, in milliseconds; by default that of the ledger benchmark. */
  readonly listMs?: number;
}

const PROGRESS_MS = 15_000;
/** Limited, since the operator's token is one key. */
const MOST_SAMPLES_OF_ADMIN = 100;
/** Milliseconds for which a node keeps its answer. */
const METRICS_KEPT_MS = 5_200;

export async function measureRequests(run: RequestsRun): Promise<Row[]> {
  const { nodes, ledger, samples, progress } = run;
  const turns = new Turns(nodes);
  const keysOf = ({ caller }: Case) =>
    caller === 'admin' ? [nodes[0].adminToken] : ledger.tenants.keys[caller];
  const ask = async (one: Case, path: string) => {
    const { node, key } = await turns.take(keysOf(one));
    return get(node, path, { key });
  };
  const measured = casesOf(ledger, run.listMs).map((one) => ({
    one,
    ms: [] as number[],
    cursors: [] as string[],
    failures: 0,
    note: '',
  }));
  for (const entry of measured) {
    if (!entry.one.isDeep) continue;
    for (let i = 0; i < 10; i++) {
      const { text } = await ask(
        entry.one,
        `${entry.one.path(i)}&until=${new Date(instantWithin(ledger, i)).toISOString()}`,
      );
      const cursor = (JSON.parse(text) as { next_cursor: string | null }).next_cursor;
      if (cursor !== null) entry.cursors.push(cursor);
    }
  }

  let shownAt = performance.now();
  for (let round = 0; round < samples; round++) {
    for (const entry of measured) {
      const { one, ms, cursors } = entry;
      if (one.caller === 'admin' && round >= MOST_SAMPLES_OF_ADMIN) continue;
      const cursor = cursors[round % Math.max(cursors.length, 1)];
      const path = cursor === undefined ? one.path(round) : `${one.path(round)}&cursor=${cursor}`;
      const answer = await ask(one, path).catch((problem: unknown) => {
        // A request that is not answered counts as one that takes for ever.
        if (entry.failures++ === 0) progress(problem instanceof Error ? problem.message : String(problem));
        return null;
      });
      ms.push(answer?.ms ?? Number.POSITIVE_INFINITY);
      if (answer !== null && entry.note === '') entry.note = describe(answer.text);
    }
    if (performance.now() - shownAt > PROGRESS_MS) {
      shownAt = performance.now();
      progress(`asked each of ${measured.length} requests ${round + 1} times of ${samples}`);
    }
  }
  const rows = measured.map(({ one, ms, note, failures }) =>
    rowOf(one.name, one.barMs, ms, failures === 0 ? note : `${note}, ${failures} not answered`),
  );
  return [...rows, rowOf(METRICS_CASE.name, METRICS_CASE.barMs, await measureMetrics(nodes), '')];
}

async function measureMetrics(nodes: Nodes): Promise<number[]> {
  const ms: number[] = [];
  for (let round = 0; round < 6; round++) {
    // The first round opens connections and reads pages that are not cached yet.
    for (const node of nodes) {
      const answer = await get(node, METRICS_CASE.path);
      if (round > 0) ms.push(answer.ms);
    }
    await delay(METRICS_KEPT_MS);
  }
  return ms;
}

/** Times spread over the filled days, the same in every run. */
const instantWithin = ({ firstDayMs, endMs }: Ledger, i: number): number =>
  Math.floor(firstDayMs + ((i + 1) / 11) * (endMs - firstDayMs));

function rowOf(what: string, barMs: number, ms: readonly number[], note: string): Row {
  const p99 = percentile(ms, 99);
  return {
    what,
    p50: `${percentile(ms, 50).toFixed(1)} ms`,
    figure: `${p99.toFixed(1)} ms`,
    ...atMost(p99, barMs),
    bar: `p99 ≤ ${barMs} ms`,
    note: `${ms.length} times${note}`,
  };
}

/** Summarises the answer, so that a fast answer to the wrong question is noticed. */
function describe(text: string): string {
  const answer = JSON.parse(text) as {
    decisions?: unknown[];
    next_cursor?: string | null;
    totals?: { verifies?: number };
    days?: unknown[];
  };
  if (answer.decisions !== undefined)
    return `, ${answer.decisions.length} rows${answer.next_cursor === null ? ', the last page' : ''}`;
  const sum = answer.totals?.verifies?.toLocaleString('en') ?? '?';
  return `, ${sum} verifies, ${Math.round(text.length / 1024)} KB`;
}
