/**
 * `npm run differential`: compares random decisions of our engine and of the independent one until the given number
 * agrees. Exits with 1 at the first difference, and prints the input. The same seed gives the same decisions.
 */
import { parseArgs } from 'node:util';
import { compareEngines } from './compare-engines.ts';
import { loadIndependentEngine } from './independent-engine.ts';

const USAGE = `usage: npm run differential -- [options]
  --decisions N   how many to compare, default 1000000
  --seed N        of the random numbers, default 1`;
const PROGRESS_MS = 10_000;

function parseOptions(args: readonly string[]): { decisions: number; seed: number } | null {
  try {
    const options = { decisions: { type: 'string' }, seed: { type: 'string' } } as const;
    const { decisions = '1000000', seed = '1' } = parseArgs({ args: [...args], options }).values;
    return /^[1-9][0-9]{0,8}$/.test(decisions) && /^[0-9]{1,9}$/.test(seed)
      ? { decisions: Number(decisions), seed: Number(seed) }
      : null;
  } catch {
    return null;
  }
}

const options = parseOptions(process.argv.slice(2));
if (options === null) {
  console.error(USAGE);
  process.exit(2);
}

const began = performance.now();
let saidMs = began;
function progress(compared: number): void {
  const nowMs = performance.now();
  if (nowMs - saidMs < PROGRESS_MS) return;
  saidMs = nowMs;
  const perSecond = (compared * 1000) / (nowMs - began);
  console.log(`${compared} of ${options?.decisions} the same, ${perSecond.toFixed(0)} a second`);
}

try {
  const independent = await loadIndependentEngine();
  const { compared, allowed, reasons } = compareEngines(independent, { ...options, onProgress: progress });
  const byCount = [...reasons].sort(([, a], [, b]) => b - a);
  for (const [reason, count] of [['ALLOW', allowed] as const, ...byCount])
    console.log(`${String(count).padStart(9)}  ${reason}`);
  console.log(`${compared} decisions compared, no difference (seed ${options.seed})`);
} catch (problem) {
  console.error(problem instanceof Error ? problem.message : problem);
  process.exitCode = 1;
}
