/**
 * `npm run bench -- cold`: what a cold day takes, and what a year of them does to lists, exports and decisions. Ends
 * with 1 when a bar is missed.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cleanup } from '../harness/cleanup.ts';
import { argumentsOf } from '../harness/command-line.ts';
import { describeMachine } from '../harness/report.ts';
import { printRows, type Row } from '../ledger/table.ts';
import { measureDay } from './day.ts';
import { parseColdOptions } from './options.ts';
import { measureYear } from './year.ts';

const began = performance.now();
const progress = (line: string): void =>
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);

const options = parseColdOptions(argumentsOf('cold'));
if (process.platform !== 'linux') {
  console.error('The benchmark reads memory from /proc, so it runs on Linux only.');
  process.exit(2);
}

const cleanup = new Cleanup();
const rows: Row[] = [];
try {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'svc-bench-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  progress(`${describeMachine()}, load ${loadavg()[0]?.toFixed(1)}`);
  const place = { folder, cleanup };
  if (options.parts.has('day')) rows.push(...(await measureDay(place, options, progress)));
  if (options.parts.has('year')) rows.push(...(await measureYear(place, options, progress)));
} catch (problem) {
  console.error(problem instanceof Error ? problem.message : problem);
  process.exitCode = 1;
} finally {
  if (rows.length > 0) console.log(printRows(rows));
  progress(`load ${loadavg()[0]?.toFixed(1)} at the end`);
  if (rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
  await cleanup.run();
}
