import { project } from '../../vitest.shared.ts';

// Test files share a worker and its modules: loading the API anew for each of them would cost more than their tests.
// What is polled for has as long as any test: a loaded machine is slow, not wrong.
export const shared = {
  setupFiles: ['test/world/setup.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
};

/**
 * Run one at a time, after all others: what races, floods, kills or exhausts, and what times a person's page. Of the
 * deployments these do none of that, and run with the others.
 */
const calm = [
  'admin-clock',
  'artefacts',
  'database-tls',
  'decision-export-failures',
  'dump',
  'fence',
  'fsck',
  'hosted-principal',
  'leaked-key',
  'monitor',
  'operator',
  'packed',
  'restore',
  'reverse-proxies',
  'schema',
  'service-did',
  'service-role',
  'signer-drills',
  'start',
  'status-signer-away',
  'traces',
  'upgrade',
].map((name) => `test/deployments/${name}.test.ts`);
export const alone = {
  include: ['test/deployments/**/*.test.ts', 'test/pages/deployed.test.ts'],
  exclude: calm,
};

export default project('api', {
  ...shared,
  include: ['src/**/*.test.ts', 'test/!(deployments)/**/*.test.ts', ...calm],
  exclude: ['test/pages/deployed.test.ts'],
});
