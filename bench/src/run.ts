/**
 * `npm run bench`: the API against the floor and the plain build, in one run on one machine. Absolute figures vary from
 * run to run; the benchmark is for the ratios. Ends with 1 when a bar is missed or an answer was not an ALLOW.
 */
import { statfsSync, writeFileSync } from 'node:fs';
import { startField } from './harness/contestants.ts';
import { examine } from './harness/exam.ts';
import { LoadProcess } from './harness/load-process.ts';
import { readMainOptions } from './harness/options.ts';
import { figuresOf } from './harness/ratios.ts';
import { describeMachine, printReport } from './harness/report.ts';
import { measure } from './harness/rounds.ts';
import { runBenchmark } from './harness/run-benchmark.ts';

const TMPFS_MAGIC = 0x01021994;
const options = readMainOptions();

await runBenchmark(
  async ({ place, progress }) => {
    const { folder } = place;
    if (statfsSync(folder).type === TMPFS_MAGIC)
      progress(`${folder} is in memory: commits cost no disk here. Set TMPDIR to a folder on a disk.`);

    progress(describeMachine());
    progress('starting three databases and what is compared');
    const field = await startField(place, options);
    progress('checking that each does the job');
    for (const contestant of field.contestants) await examine(contestant, field.world);
    const load = LoadProcess.start(place, field);
    const { rounds, seconds } = options;
    const measured = await measure({ place, field, load, rounds, seconds, progress });

    const figures = figuresOf(measured);
    if (options.json !== null)
      writeFileSync(
        options.json,
        JSON.stringify({ machine: describeMachine(), figures, ...measured }, null, 2),
      );
    console.log(printReport(measured, figures));
    if (figures.some(({ verdict }) => verdict === 'BAR MISSED')) process.exitCode = 1;
  },
  { reads: 'CPU times' },
);
