/**
 * `npm run mutate [-- AREA… --only WORD --workers N]`: makes mutants of the engine and checks whether the tests detect
 * them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseOptions, UsageError } from '@svc/cli/command-line';
import { AREAS } from './areas.ts';
import { isGood, MIN_PERCENT, type Outcome, tableOf } from './outcome.ts';
import { outcomeOf } from './survivors.ts';
import { type TreeCopy, withCopy } from './tree-copy.ts';

const names = [...Object.keys(AREAS), 'sql'];
const usage = `usage: npm run mutate [-- AREA… --only WORD --workers N]

Changes one thing at a time in a copy of the tree and runs the tests that must notice. Exits with 0 if they notice at
least ${MIN_PERCENT} % of the mutants of each area and mutation/accepted.json says of every other why no test can.

  AREA         ${names.join(', ')}; all of them unless named
  --only WORD  only files whose name contains WORD; of sql also mutants that it stands in the name of
  --workers N  mutants at a time, 1 to 16, default 1; each takes a core (sql runs one at a time)
  --help       this text`;

try {
  process.exitCode = run(process.argv.slice(2));
} catch (problem) {
  if (!(problem instanceof UsageError)) throw problem;
  console.error(`${problem.message}\n\n${usage}`);
  process.exitCode = 2;
}

function run(args: readonly string[]): number {
  const { values, positionals } = parseOptions(args, {
    only: { value: 'WORD', text: 'only files whose name contains WORD' },
    workers: { value: 'N', text: 'mutants at a time' },
    help: { text: 'how to call it' },
  });
  const { only = '', workers = '1' } = values;
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const stranger = positionals.find((name) => !names.includes(name));
  if (stranger !== undefined) throw new UsageError(`there is no area ${stranger}, only ${names.join(', ')}`);
  if (!/^([1-9]|1[0-6])$/.test(workers))
    throw new UsageError(`--workers must be a whole number from 1 to 16, not ${workers}`);
  const chosen = positionals.length > 0 ? positionals : names;
  const outcomes = withCopy((copy) =>
    chosen.map((area, i) => {
      console.log(`\n${area} (${i + 1} of ${chosen.length} areas)`);
      return mutate(copy, area, only, workers);
    }),
  );
  console.log(`\n${tableOf(outcomes)}`);
  return outcomes.every(isGood) ? 0 : 1;
}

/** Mutates one area, whose script writes a report; prints what needs attention. */
function mutate(copy: TreeCopy, area: string, only: string, workers: string): Outcome {
  const startedMs = Date.now();
  const hasRun =
    area === 'sql' ? copy.runScript('sql.ts', only) : copy.runScript('stryker.ts', area, workers, only);
  if (!hasRun) throw new Error(`${area}: the mutants could not be run`);
  const report = JSON.parse(readFileSync(join(copy.folder, 'reports', `${area}.json`), 'utf8'));
  const counts = area === 'sql' ? report : outcomeOf(report);
  for (const problem of counts.problems) console.log(problem);
  return { ...counts, area, minutes: (Date.now() - startedMs) / 60_000 };
}
