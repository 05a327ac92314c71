import { projectAlone } from '../../vitest.shared.ts';
import { alone, shared } from './vitest.config.ts';

export default projectAlone('api-alone', alone.include, { ...shared, exclude: alone.exclude });
