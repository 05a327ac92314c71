/**
 * Runs the mutants of one area in the tree that contains this file, which it changes: `stryker.ts AREA WORKERS [WORD]`,
 * only in files whose name contains the word. Writes reports/AREA.json.
 */
import { fileURLToPath } from 'node:url';
import { AREAS } from './areas.ts';

const [name = '', workers = '1', word = ''] = process.argv.slice(2);
const area = AREAS[name];
if (area === undefined) throw new Error(`no area ${name}; there are ${Object.keys(AREAS).join(', ')}`);
process.env.SVC_MUTATION_SUITES = area.suites.join(' ');
process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

// Loaded by its file, because the index of the package loads the prompts of `stryker init`, which need a later Node.
const core = new URL('dist/src/stryker.js', import.meta.resolve('@stryker-mutator/core/package.json'));
const { Stryker } = (await import(core.href)) as typeof import('@stryker-mutator/core');

await new Stryker({
  plugins: [
    import.meta.resolve('@stryker-mutator/vitest-runner'),
    new URL('../stryker-plugins.mjs', import.meta.url).href,
  ],
  testRunner: 'vitest',
  vitest: { configFile: 'mutation/vitest.config.ts', related: false },
  mutate: [...area.mutate.map((glob) => glob.replace('*.ts', `*${word}*.ts`)), '!**/*.test.ts'],
  ignorers: ['sentences'],
  inPlace: true,
  concurrency: Number(workers),
  coverageAnalysis: 'perTest',
  reporters: ['json', 'progress-append-only', 'survivors'],
  jsonReporter: { fileName: `reports/${name}.json` },
  timeoutMS: 10_000,
  disableTypeChecks: true,
}).runMutationTest();
