// Runs the tests and counts them.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listBeyondSample } from '../beyond-sample.mjs';
import { inherited, root, show } from './spawn.mjs';

/**
 * Runs vitest with its output shown, after a build, then counts from its report. A file that cannot be loaded counts as
 * one failed test.
 */
export async function test(rest, more = {}) {
  const env = { SVC_PROGRAMS_BUILT: '1', ...more };
  const folder = mkdtempSync(join(tmpdir(), 'svc-report-'));
  try {
    const report = join(folder, 'vitest.json');
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const code = await show(process.execPath, [vitest, 'run', ...reporters, ...rest], env);
    const { passed, failed, skipped } = countTests(report);
    const failures = code !== 0 && failed === 0 ? 1 : failed;
    if (skipped > 0 && { ...inherited, ...env }.SVC_TEST_DEPTH !== 'deep')
      console.log(
        'a sample: what was skipped runs in npm run test:deep, where the programs it needs are installed',
      );
    console.log(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
    return code !== 0 ? code : Math.min(failures, 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function countTests(report) {
  if (!existsSync(report)) return { passed: 0, failed: 0, skipped: 0 };
  const result = JSON.parse(readFileSync(report, 'utf8'));
  const isBroken = ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((one) => one.status === 'failed');
  return {
    passed: result.numPassedTests,
    failed: result.numFailedTests + result.testResults.filter(isBroken).length,
    skipped: result.numPendingTests + result.numTodoTests,
  };
}

/** The parameters of vitest, with `--beyond-sample` replaced by its files. */
export const takeBeyondSample = (all) =>
  all.includes('--beyond-sample')
    ? [...all.filter((one) => one !== '--beyond-sample'), ...listBeyondSample(root)]
    : all;

/** The number of repetitions, and the other parameters. */
export function takeRepeat(all) {
  const at = all.indexOf('--repeat');
  if (at === -1) return { times: 1, rest: all };
  const times = Number(all[at + 1]);
  if (!Number.isInteger(times) || times < 1) throw new Error('--repeat needs a number of runs');
  return { times, rest: all.toSpliced(at, 2) };
}
