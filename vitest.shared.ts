import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const testkit = (file: string) => fileURLToPath(new URL(`packages/testkit/src/${file}`, import.meta.url));

// Conditions are handed to Node too, for what vitest does not transform: naming `import` or `module` here would make
// `require` inside a dependency load the wrong file.
const conditions = ['svc-source', 'node'];

// The testkit stands on the packages whose tests use it: named as a dependency there, it would close a circle in the
// build. Tests reach it by path, here and in tsconfig.base.json.
const alias = { '@svc/testkit': testkit('index.ts') };

const projectsWithDatabase = new Set([
  'api',
  'bench',
  'conformance-runner',
  'service',
  'store-pg',
  'testkit',
  'worker',
]);

/** What every package's vitest project has in common. */
export const project = (name: string, test: Record<string, unknown> = {}) =>
  defineConfig({
    resolve: { conditions, alias },
    ssr: { resolve: { conditions } },
    // Global setups are loaded in an environment of vitest's own.
    environments: { __vitest__: { resolve: { conditions } } },
    test: {
      name,
      include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
      testTimeout: 30_000,
      globalSetup: projectsWithDatabase.has(name) ? [testkit('vitest-database-setup.ts')] : [],
      ...test,
    },
  });
