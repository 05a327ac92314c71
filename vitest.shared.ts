import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { isDeep } from './packages/testkit/src/sampled.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const testkit = (file: string) => at(`packages/testkit/src/${file}`);

// Conditions are handed to Node too, for what vitest does not transform: naming `import` or `module` here would make
// `require` inside a dependency load the wrong file.
const conditions = ['svc-source', 'node'];

// The testkit and the source of the vectors stand on packages whose tests use them: named as dependencies there, they
// would close a circle in the build. Tests reach them by path, here and in tsconfig.base.json.
const alias = [
  { find: /^@svc\/testkit$/, replacement: testkit('index.ts') },
  { find: /^@svc\/testkit\/(.*)$/, replacement: testkit('$1.ts') },
  { find: '@svc/vectors/src', replacement: at('vectors/src') },
];

const projectsWithDatabase = new Set([
  'admin',
  'api',
  'api-alone',
  'conformance-runner',
  'fsck',
  'scripts',
  'service',
  'store-pg',
  'svc',
  'testkit',
  'worker',
]);

const projectsWithPrograms = new Set(['api', 'api-alone', 'cli', 'conformance-runner', 'svc', 'worker']);

/** Files of which `npm test` has nothing: what they guarantee has a cheaper test in the sample. */
const left = isDeep ? [] : ['**/*.deep.test.ts'];

/** What every package's vitest project has in common. */
export const project = (
  name: string,
  { exclude = [], ...test }: Record<string, unknown> & { readonly exclude?: readonly string[] } = {},
) =>
  defineConfig({
    resolve: { conditions, alias },
    ssr: { resolve: { conditions } },
    // Global setups are loaded in an environment of vitest's own.
    environments: { __vitest__: { resolve: { conditions } } },
    test: {
      name,
      include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
      exclude: [...configDefaults.exclude, ...left, ...exclude],
      isolate: false,
      // In one module graph: once in many runs, hooks and the renderer each had a copy of preact.
      server: { deps: { inline: [/\/preact(-render-to-string)?@/] } },
      testTimeout: 30_000,
      // What is polled for has as long as a test, nearly: a loaded machine is slow, not wrong.
      expect: { poll: { timeout: 20_000 } },
      // One more than the cores of a small machine: tests wait for servers a quarter of their time.
      maxWorkers: 3,
      globalSetup: [
        ...(projectsWithDatabase.has(name) ? [testkit('vitest-database-setup.ts')] : []),
        ...(projectsWithPrograms.has(name) ? [testkit('process/programs.ts')] : []),
      ],
      ...test,
    },
  });

/** Suites that race, flood, kill or exhaust: one file at a time, after all others, so that they meet no others' load. */
export const projectAlone = (
  name: string,
  include: readonly string[],
  test: Record<string, unknown> & { readonly exclude?: readonly string[] } = {},
) => project(name, { include, maxWorkers: 1, sequence: { groupOrder: 1 }, ...test });
