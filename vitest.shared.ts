import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { isDeep } from './packages/testkit/src/sampled.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const testkit = (file: string) => at(`packages/testkit/src/${file}`);

// Node also gets these conditions, for modules that vitest does not transform. With `import` or `module` here,
// `require` inside a dependency would load the wrong file.
const conditions = ['svc-source', 'node'];

// The testkit and the source of the vectors depend on packages whose tests use them. If those packages named them as
// dependencies, the build would have a cycle. Tests reach them by path, here and in tsconfig.base.json; also what runs
// `svc-admin` within a test's process.
const alias = [
  { find: /^@svc\/testkit$/, replacement: testkit('index.ts') },
  { find: /^@svc\/testkit\/(.*)$/, replacement: testkit('$1.ts') },
  { find: '@svc/vectors/src', replacement: at('vectors/src') },
  { find: '@svc/admin/test', replacement: at('apps/admin/test') },
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

/** Files that `npm test` skips. The sample has a cheaper test for what they guarantee. */
const left = isDeep ? [] : ['**/*.deep.test.ts'];

/** The common settings of all packages' vitest projects. */
export const project = (
  name: string,
  { exclude = [], ...test }: Record<string, unknown> & { readonly exclude?: readonly string[] } = {},
) =>
  defineConfig({
    resolve: { conditions, alias },
    ssr: { resolve: { conditions } },
    // Global setups are loaded in vitest's own environment.
    environments: { __vitest__: { resolve: { conditions } } },
    test: {
      name,
      include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
      exclude: [...configDefaults.exclude, ...left, ...exclude],
      isolate: false,
      // In one module graph: otherwise, in rare runs, hooks and renderer each had their own copy of preact.
      server: { deps: { inline: [/\/preact(-render-to-string)?@/] } },
      testTimeout: 30_000,
      // Polling may take nearly as long as a test, because a loaded machine is slow but not wrong.
      expect: { poll: { timeout: 20_000 } },
      // One more than the cores of a small machine: tests wait for servers during a quarter of their time.
      maxWorkers: 3,
      globalSetup: testkit(projectsWithDatabase.has(name) ? 'vitest-setup.ts' : 'process/programs.ts'),
      ...test,
    },
  });

/**
 * Suites that race, flood, kill or exhaust run one file at a time, after all others, so that they see no other load.
 */
export const projectAlone = (
  name: string,
  include: readonly string[],
  test: Record<string, unknown> & { readonly exclude?: readonly string[] } = {},
) => project(name, { include, maxWorkers: 1, sequence: { groupOrder: 1 }, ...test });
