/** The suites that must detect mutants, in the order of `SVC_MUTATION_SUITES`, which contains their globs. */
import { fileURLToPath } from 'node:url';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { project } from '../vitest.shared.ts';
import { keptWorker } from './kept-worker.ts';

const include = (process.env.SVC_MUTATION_SUITES ?? '').split(' ');

/** In the listed order; vitest itself begins with the slowest. */
class AsListed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) =>
      include.findIndex((suite) => moduleId.endsWith(suite));
    return [...files].sort((a, b) => placeOf(a) - placeOf(b));
  }
}

export default {
  ...project('mutation', {
    include,
    isolate: true,
    sequence: { sequencer: AsListed, setupFiles: 'list' },
    setupFiles: [fileURLToPath(new URL('kept-setup.ts', import.meta.url))],
  }),
  plugins: [keptWorker],
  root: fileURLToPath(new URL('..', import.meta.url)),
};
