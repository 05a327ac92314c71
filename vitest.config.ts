import { defineConfig } from 'vitest/config';

// Every package is one project; sources are resolved through the `svc-source` export condition, so a test never runs
// against a stale build.
export default defineConfig({
  test: {
    // One file at a time: the suites that race and exhaust are to meet deadlines, not each other.
    maxWorkers: 1,
    projects: ['packages/*', 'apps/*', 'vectors', 'bench/vitest.config.{ts,mts}'],
  },
});
