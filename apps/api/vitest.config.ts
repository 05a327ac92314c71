import { project } from '../../vitest.shared.ts';

// Test files share a worker and its modules: loading the API anew for each of them would cost more than their tests.
// What is polled for has as long as any test: a loaded machine is slow, not wrong.
export const shared = {
  isolate: false,
  setupFiles: ['test/world/setup.ts'],
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
};

export default project('api', { ...shared, exclude: ['test/deployments/**'] });
