/**
 * `npm run bench -- ledger`: the time the API takes to answer about a large ledger, and the cost of a decision with
 * one. Ends with 1 when a bar is missed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeLoad, describeMachine } from '../harness/report.ts';
import { type Benchmark, type Progress, runBenchmark } from '../harness/run-benchmark.ts';
import { cpuMsOfMachine, cpuMsOfTree } from '../load/cpu.ts';
import { LedgerCluster, type LedgerDatabase } from './database.ts';
import { measureDecisions } from './decisions.ts';
import { largestRpOf, measureExport } from './export.ts';
import { startNodes } from './nodes.ts';
import { readLedgerOptions } from './options.ts';
import { homeOf, type Ledger, prepare } from './prepare.ts';
import { measureRequests } from './requests.ts';
import { printRows, type Row } from './table.ts';

/**
 * Starts measuring the CPU of processes outside this benchmark; the returned function answers it in percent of one
 * core.
 */
function shareElsewhere(postgresPid: number): () => number {
  const read = () => cpuMsOfMachine() - cpuMsOfTree(process.pid) - cpuMsOfTree(postgresPid);
  const [before, beganMs] = [read(), performance.now()];
  return () => Math.round(((read() - before) / (performance.now() - beganMs)) * 100);
}

const options = readLedgerOptions();

const rows: Row[] = [];

async function measure(
  { place, progress }: Benchmark,
  database: LedgerDatabase,
  ledger: Ledger,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const { api, part, rounds, samples, seconds } = options;
  const nodes = await startNodes(place, api, database.url, { environment });
  const elsewhere = shareElsewhere(database.postgresPid);
  if (part.includes('requests')) {
    progress(`asking, ${describeLoad()}`);
    rows.push(...(await measureRequests({ nodes, ledger, samples, progress })));
    progress(`everything else used ${elsewhere()} % of a core meanwhile`);
  }
  if (part.includes('export')) {
    progress(`exporting, ${describeLoad()}`);
    rows.push(...(await measureExport({ nodes, database, ...largestRpOf(ledger) })));
  }
  if (part.includes('decisions')) {
    progress(`deciding, ${describeLoad()}`);
    rows.push(
      ...(await measureDecisions({ place, api, node: nodes[0], database, rounds, seconds, progress })),
    );
  }
}

/** Prints what was measured, also where a later step failed. */
function report(progress: Progress): void {
  if (rows.length === 0) return;
  console.log(printRows(rows));
  progress(`${describeMachine()}, ${describeLoad()}`);
  if (rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
  const { receipts, short: isShort, json } = options;
  if (json !== null)
    writeFileSync(json, JSON.stringify({ machine: describeMachine(), receipts, isShort, rows }, null, 2));
}

await runBenchmark(
  async ({ place, progress }) => {
    const { folder, cleanup } = place;
    const kept = resolve(options.folder ?? join(folder, 'ledger'));
    mkdirSync(kept, { recursive: true });
    progress(`${describeMachine()}, ${describeLoad()}`);
    const cluster = await LedgerCluster.open(join(kept, 'database'), options.folder !== null, cleanup);
    const environment = homeOf(kept);
    const { ledger, database } = await prepare({
      place,
      cluster,
      file: join(kept, 'ledger.json'),
      receipts: options.receipts,
      isShort: options.short,
      api: options.api,
      environment,
      progress,
    });
    if (!options['fill-only']) await measure({ place, progress }, database, ledger, environment);
  },
  { reads: 'CPU times', atEnd: report },
);
