/** The suites that must notice: `SVC_MUTATION_SUITES` holds their globs. */
import { fileURLToPath } from 'node:url';
import { project } from '../vitest.shared.ts';

const include = (process.env.SVC_MUTATION_SUITES ?? '').split(' ');

export default {
  ...project('mutation', { include }),
  root: fileURLToPath(new URL('..', import.meta.url)),
};
