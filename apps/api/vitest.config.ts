import { project } from '../../vitest.shared.ts';

// Test files share a worker and its modules: loading the API anew for each of them would cost more than their tests.
export default project('api', { isolate: false, setupFiles: ['test/world/setup.ts'] });
