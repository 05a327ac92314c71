import { projectAlone } from '../../vitest.shared.ts';
import { shared } from './vitest.config.ts';

export default projectAlone('api-alone', ['test/deployments/**/*.test.ts'], shared);
