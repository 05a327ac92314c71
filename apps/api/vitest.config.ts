import { project } from '../../vitest.shared.ts';

// Test files share a worker and its modules: loading the API anew for each of them would cost more than their tests.
export const shared = {
  setupFiles: ['test/world/setup.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/**
 * Run one at a time, after all others: what floods or exhausts, must answer in time or lives by the millisecond. Of the
 * deployments these do none of that, and run with the others: what they race or kill is their own. `midnights` and
 * `rush` are a load for the others, but assert nothing about short times.
 */
const calm = [
  'admin-clock',
  'artefacts',
  'budgets',
  'clock-steps',
  'compromise-race',
  'config-check',
  'database-tls',
  'decision-export-failures',
  'dump',
  'entitlement-cap',
  'fence',
  'fsck',
  'hosted-document',
  'hosted-loss',
  'hosted-principal',
  'kill-switch-size',
  'leaked-key',
  'midnights',
  'monitor',
  'operator',
  'packed',
  'pause-race',
  'read-replica',
  'replay',
  'revocation-line',
  'restore',
  'reverse-proxies',
  'revocation-race',
  'schema',
  'self-serve-crash',
  'rush',
  'service-did',
  'service-pause',
  'service-role',
  'shutdown',
  'signer-drills',
  'start',
  'status-signer-away',
  'traces',
  'upgrade',
].map((name) => `test/deployments/${name}{,.deep}.test.ts`);
export const alone = { include: ['test/deployments/**/*.test.ts'], exclude: calm };

export default project('api', {
  ...shared,
  include: ['src/**/*.test.ts', 'test/!(deployments)/**/*.test.ts', ...calm],
});
