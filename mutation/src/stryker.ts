/**
 * One group of mutants, in the tree that this file lies in, which it changes: `stryker.ts GROUP WORKERS [FILE…]`. Writes
 * reports/GROUP.json.
 */
import { fileURLToPath } from 'node:url';
import { GROUPS } from './groups.ts';

const [name = '', workers = '1', ...files] = process.argv.slice(2);
const group = GROUPS[name];
if (group === undefined) throw new Error(`no group ${name}; there are ${Object.keys(GROUPS).join(', ')}`);
process.env.SVC_MUTATION_SUITES = group.suites.join(' ');
process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

// By its file: the index of the package loads the prompts of `stryker init`, which want a later Node.
const core = new URL('dist/src/stryker.js', import.meta.resolve('@stryker-mutator/core/package.json'));
const { Stryker } = (await import(core.href)) as typeof import('@stryker-mutator/core');

await new Stryker({
  plugins: [
    import.meta.resolve('@stryker-mutator/vitest-runner'),
    new URL('../no-sentences.mjs', import.meta.url).href,
  ],
  testRunner: 'vitest',
  vitest: { configFile: 'mutation/vitest.config.ts', related: false },
  mutate: [...(files.length === 0 ? group.mutate : files), '!**/*.test.ts'],
  ignorers: ['sentences'],
  inPlace: true,
  concurrency: Number(workers),
  coverageAnalysis: 'perTest',
  // What is evaluated once at load, as tables and patterns are, would need every suite anew for each mutant.
  ignoreStatic: true,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: `reports/${name}.json` },
  timeoutMS: 20_000,
  disableTypeChecks: true,
}).runMutationTest();
