import { defineConfig } from 'vitest/config';
import { project } from './vitest.shared.ts';

/**
 * Every package but the API in one project, so that they share workers, and what was transformed and loaded. The API's
 * tests leave nodes running in their workers, which must meet nobody's fake timers.
 */
const together = project('svc', {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  include: ['{packages,scripts,vectors}/**/{src,test}/**/*.test.ts', 'apps/!(api)/{src,test}/**/*.test.ts'],
});

// A package is a project of its own where one is named, as in `npm test -- --project receipts`. Sources are resolved through the
// `svc-source` export condition, so a test never runs against a stale build.
const isOneNamed = process.argv.some((argument) => /^--project\b/.test(argument));

export default defineConfig({
  test: {
    projects: isOneNamed
      ? ['packages/*', 'apps/*', 'apps/*/vitest.config.alone.ts', 'scripts', 'vectors']
      : [together, 'apps/api/vitest.config.ts', 'apps/api/vitest.config.alone.ts'],
  },
});
