import { defineConfig } from 'vitest/config';
import { amongOthers, shared } from './apps/api/vitest.config.ts';
import { project } from './vitest.shared.ts';

const inApi = (paths: readonly string[]) => paths.map((path) => `apps/api/${path}`);

/** Every package in one project, so that they share workers, and what was transformed and loaded. */
const together = project('svc', {
  ...shared,
  include: [
    '{packages,vectors}/**/{src,test}/**/*.test.ts',
    'apps/!(api)/{src,test}/**/*.test.ts',
    ...inApi(amongOthers.include),
  ],
  exclude: ['**/node_modules/**', ...inApi(amongOthers.exclude)],
});

// A package is a project of its own where one is named, as in `npm test -- --project receipts`. Sources are resolved through the
// `svc-source` export condition, so a test never runs against a stale build.
const isOneNamed = process.argv.some((argument) => /^--project\b/.test(argument));

export default defineConfig({
  test: {
    projects: isOneNamed
      ? ['packages/*', 'apps/*', 'apps/*/vitest.config.alone.ts', 'vectors']
      : [together, 'apps/*/vitest.config.alone.ts'],
  },
});
