const [name, concurrency = '1', ...only] = process.argv.slice(2);
const GROUPS = {
  checks: { mutate: ['packages/protocol/src/checks/*.ts', 'packages/protocol/src/evaluate.ts', '!**/*.test.ts'], suites: ['packages/protocol/src/**/*.test.ts', 'packages/protocol/test/forgery.test.ts', 'vectors/test/vectors.test.ts'] },
  codec: { mutate: ['packages/codec/src/*.ts', '!**/*.test.ts'], suites: ['packages/codec/src/**/*.test.ts', 'packages/protocol/src/**/*.test.ts'] },
  receipts: { mutate: ['packages/receipts/src/verify/*.ts', '!**/*.test.ts'], suites: ['packages/receipts/src/**/*.test.ts'] },
  merkle: { mutate: ['packages/merkle/src/*.ts', '!**/*.test.ts'], suites: ['packages/merkle/**/*.test.ts'] },
};
const g = GROUPS[name];
process.env.SVC_MUTATION_SUITES = g.suites.join(' ');
const at = new URL('dist/src/stryker.js', import.meta.resolve('@stryker-mutator/core/package.json'));
const { Stryker } = await import(at.href);
process.chdir(new URL('..', import.meta.url).pathname);
await new Stryker({
  plugins: [import.meta.resolve('@stryker-mutator/vitest-runner')],
  testRunner: 'vitest',
  vitest: { configFile: 'mutation/vitest.config.ts', related: false },
  mutate: only.length ? only : g.mutate,
  inPlace: true,
  concurrency: Number(concurrency),
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  checkers: [],
  reporters: ['json', 'progress-append-only', 'clear-text'],
  clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false, reportScoreTable: true },
  jsonReporter: { fileName: `reports/${name}.json` },
  timeoutMS: 20000, timeoutFactor: 3,
  allowEmpty: true,
  disableTypeChecks: true,
  tempDirName: '.stryker-tmp',
  cleanTempDir: 'always',
  logLevel: 'info',
}).runMutationTest();
