/**
 * `npm run bench -- budgets`: what one budget that everybody draws on makes of the throughput, its own and that of Grants
 * that have nothing to do with it. Ends with 1 when a bar is missed.
 */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cleanup } from '../harness/cleanup.ts';
import { argumentsOf } from '../harness/command-line.ts';
import { parseOptions } from '../harness/options.ts';
import { describeMachine } from '../harness/report.ts';
import { median } from '../load/percentile.ts';
import { measureRound, type RoundOfBudgets, startStage } from './rounds.ts';

const began = performance.now();

function progress(line: string): void {
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}`);
}

interface Ratio {
  readonly what: string;
  readonly of: (round: RoundOfBudgets) => number;
  /** Least; null: shown alone. */
  readonly bar: number | null;
}

const RATIOS: readonly Ratio[] = [
  { what: 'one hot budget / unrelated Grants', of: ({ hot, unrelated }) => hot / unrelated, bar: 0.4 },
  { what: '… / unrelated budgets', of: ({ hot, budgets }) => hot / budgets, bar: 0.4 },
  {
    what: '… through two nodes / unrelated Grants through two',
    of: ({ hotOnTwo, unrelatedOnTwo }) => hotOnTwo / unrelatedOnTwo,
    bar: 0.4,
  },
  {
    what: 'unrelated budgets / unrelated Grants',
    of: ({ budgets, unrelated }) => budgets / unrelated,
    bar: null,
  },
  {
    what: 'unrelated Grants beside a hot budget / beside other unrelated Grants',
    of: ({ besideHot, besideOthers }) => besideHot / besideOthers,
    bar: 0.9,
  },
];

const { rounds, seconds, api, agents, json } = parseOptions(argumentsOf('budgets'));
if (process.platform !== 'linux') {
  console.error('The benchmark reads CPU times from /proc, so it runs on Linux only.');
  process.exit(2);
}

const cleanup = new Cleanup();
try {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'svc-bench-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  progress(describeMachine());
  const stage = await startStage({ folder, cleanup }, { api, agents });
  progress('warming up');
  await measureRound(stage, 1);
  const measured: RoundOfBudgets[] = [];
  for (let round = 1; round <= rounds; round++) {
    const figures = await measureRound(stage, seconds);
    measured.push(figures);
    const text = Object.entries(figures).map(([name, perSecond]) => `${name} ${Math.round(perSecond)}/s`);
    progress(`round ${round} of ${rounds}: ${text.join(', ')}`);
  }
  const ratios = RATIOS.map(({ what, of, bar }) => {
    const values = measured.map(of);
    return { what, bar, ratio: median(values), least: Math.min(...values), most: Math.max(...values) };
  });
  if (json !== null)
    writeFileSync(json, JSON.stringify({ machine: describeMachine(), ratios, measured }, null, 2));
  console.log('\nRatios within one round, median (least to most):');
  for (const { what, ratio, least, most, bar } of ratios) {
    const range = `(${least.toFixed(2)} to ${most.toFixed(2)})`;
    const verdict = bar === null ? '' : ratio >= bar ? `bar ${bar}: met` : `bar ${bar}: BAR MISSED`;
    console.log(`  ${what.padEnd(70)} ${ratio.toFixed(2)} ${range}  ${verdict}`);
  }
  if (ratios.some(({ ratio, bar }) => bar !== null && ratio < bar)) process.exitCode = 1;
} catch (problem) {
  console.error(problem instanceof Error ? problem.message : problem);
  process.exitCode = 1;
} finally {
  await cleanup.run();
}
