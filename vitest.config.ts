import { defineConfig } from 'vitest/config';

// Every package is one project; sources are resolved through the `svc-source` export condition, so a test never runs
// against a stale build.
export default defineConfig({
  test: {
    projects: ['packages/*', 'apps/*', 'apps/*/vitest.config.alone.ts', 'vectors'],
  },
});
