import { defineConfig } from 'vitest/config';
import { project } from './vitest.shared.ts';

/**
 * Every package except the API in one project, so that they share workers and transformed and loaded modules. The API's
 * tests leave nodes running in their workers, which other tests' fake timers must not affect.
 */
const together = project('svc', {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  include: ['{packages,scripts,vectors}/**/{src,test}/**/*.test.ts', 'apps/!(api)/{src,test}/**/*.test.ts'],
});

// If a project is named, as in `npm test -- --project receipts`, each package is a project. Sources are resolved
// through the `svc-source` export condition, so a test never uses a stale build.
const isOneNamed = process.argv.some((argument) => /^--project\b/.test(argument));

export default defineConfig({
  test: {
    projects: isOneNamed
      ? ['packages/*', 'apps/*', 'apps/*/vitest.config.alone.ts', 'scripts', 'vectors']
      : [together, 'apps/api/vitest.config.ts', 'apps/api/vitest.config.alone.ts'],
  },
});
