/**
 * `npm run bench -- cold`: what a cold day costs, and how a year of cold days changes lists, exports and decisions.
 * Ends with 1 when a bar is missed.
 */
import { describeLoad, describeMachine } from '../harness/report.ts';
import { type Progress, runBenchmark } from '../harness/run-benchmark.ts';
import { printRows, type Row } from '../ledger/table.ts';
import { measureDay } from './day.ts';
import { readColdOptions } from './options.ts';
import { measureYear } from './year.ts';

const options = readColdOptions();

const rows: Row[] = [];
const report = (progress: Progress): void => {
  if (rows.length > 0) console.log(printRows(rows));
  progress(`${describeLoad()} at the end`);
  if (rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
};

await runBenchmark(
  async ({ place, progress }) => {
    progress(`${describeMachine()}, ${describeLoad()}`);
    if (options.part.includes('day')) rows.push(...(await measureDay(place, options, progress)));
    if (options.part.includes('year')) rows.push(...(await measureYear(place, options, progress)));
  },
  { reads: 'memory', atEnd: report },
);
