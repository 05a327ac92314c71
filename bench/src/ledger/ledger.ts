/**
 * `npm run bench -- ledger`: what the API takes to answer about a large ledger, and what a decision costs with one. Ends
 * with 1 when a bar is missed.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Cleanup } from '../harness/cleanup.ts';
import { argumentsOf } from '../harness/command-line.ts';
import type { Place } from '../harness/contestants.ts';
import { describeMachine } from '../harness/report.ts';
import { cpuMsOfMachine, cpuMsOfTree } from '../load/cpu.ts';
import { LedgerCluster, type LedgerDatabase } from './database.ts';
import { measureDecisions } from './decisions.ts';
import { largestRpOf, measureExport } from './export.ts';
import { startNodes } from './nodes.ts';
import { parseLedgerOptions } from './options.ts';
import { homeOf, type Ledger, prepare } from './prepare.ts';
import { measureRequests } from './requests.ts';
import { printRows, type Row } from './table.ts';

const began = performance.now();

function progress(line: string): void {
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);
}

/** From now until it is called: what processes other than this benchmark's used, in percent of one core. */
function shareElsewhere(postgresPid: number): () => number {
  const read = () => cpuMsOfMachine() - cpuMsOfTree(process.pid) - cpuMsOfTree(postgresPid);
  const [before, beganMs] = [read(), performance.now()];
  return () => Math.round(((read() - before) / (performance.now() - beganMs)) * 100);
}

const options = parseLedgerOptions(argumentsOf('ledger'));
if (process.platform !== 'linux') {
  console.error('The benchmark reads CPU times from /proc, so it runs on Linux only.');
  process.exit(2);
}

const rows: Row[] = [];
const loadNow = () => `load ${loadavg()[0]?.toFixed(1)}`;

async function measure(
  place: Place,
  database: LedgerDatabase,
  ledger: Ledger,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const { api, parts, rounds, samples, seconds } = options;
  const nodes = await startNodes(place, api, database.url, { environment });
  const elsewhere = shareElsewhere(database.postgresPid);
  if (parts.has('requests')) {
    progress(`asking, ${loadNow()}`);
    rows.push(...(await measureRequests({ nodes, ledger, samples, progress })));
    progress(`everything else used ${elsewhere()} % of a core meanwhile`);
  }
  if (parts.has('export')) {
    progress(`exporting, ${loadNow()}`);
    rows.push(...(await measureExport({ nodes, database, ...largestRpOf(ledger) })));
  }
  if (parts.has('decisions')) {
    progress(`deciding, ${loadNow()}`);
    rows.push(
      ...(await measureDecisions({ place, api, node: nodes[0], database, rounds, seconds, progress })),
    );
  }
}

/** Whatever was measured, also where something failed later. */
function report(): void {
  if (rows.length === 0) return;
  console.log(printRows(rows));
  progress(`${describeMachine()}, ${loadNow()}`);
  if (rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
  const { receipts, isShort, json } = options;
  if (json !== null)
    writeFileSync(json, JSON.stringify({ machine: describeMachine(), receipts, isShort, rows }, null, 2));
}

const cleanup = new Cleanup();
try {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'svc-bench-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  const kept = resolve(options.folder ?? join(folder, 'ledger'));
  mkdirSync(kept, { recursive: true });
  const place = { folder, cleanup };
  progress(`${describeMachine()}, ${loadNow()}`);
  const cluster = await LedgerCluster.open(join(kept, 'database'), options.folder !== null, cleanup);
  const environment = homeOf(kept);
  const { ledger, database } = await prepare({
    place,
    cluster,
    file: join(kept, 'ledger.json'),
    receipts: options.receipts,
    isShort: options.isShort,
    api: options.api,
    environment,
    progress,
  });
  if (!options.isFillOnly) await measure(place, database, ledger, environment);
} catch (problem) {
  console.error(problem instanceof Error ? problem.message : problem);
  process.exitCode = 1;
} finally {
  report();
  await cleanup.run();
}
