/**
 * `npm run bench -- budgets`: how one budget on which every request draws changes the throughput: its own, and that of
 * unrelated Grants. Ends with 1 when a bar is missed.
 */
import { writeFileSync } from 'node:fs';
import { readMainOptions } from '../harness/options.ts';
import { describeMachine } from '../harness/report.ts';
import { runBenchmark } from '../harness/run-benchmark.ts';
import { median } from '../load/percentile.ts';
import { measureRound, type RoundOfBudgets, startStage } from './rounds.ts';

interface Ratio {
  readonly what: string;
  readonly of: (round: RoundOfBudgets) => number;
  /** Minimum; null where the value is only printed. */
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

const { rounds, seconds, api, agents, json } = readMainOptions('budgets');

await runBenchmark(
  async ({ place, progress }) => {
    progress(describeMachine());
    const stage = await startStage(place, { api, agents });
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
  },
  { reads: 'CPU times' },
);
