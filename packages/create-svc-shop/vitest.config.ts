import { project } from '../../vitest.shared.ts';

export default project('create-svc-shop');
