import { defineConfig } from 'vitest/config';

// Every package is one project; sources are resolved through the `svc-source` export condition, so a test never runs
// against a stale build.
export default defineConfig({
  test: {
    // Two files at a time: most of a test is waiting for PostgreSQL or for a process that it has started.
    maxWorkers: 2,
    projects: ['packages/*', 'apps/*', 'vectors', 'bench/vitest.config.{ts,mts}'],
  },
});
