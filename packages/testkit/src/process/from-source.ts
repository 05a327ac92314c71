/** Parameters of Node that run a program from its source, for tests that call a command now and then. */
import { fileURLToPath } from 'node:url';

/** `path` from the root of the repository: `packages/cli/src/receipt/main.ts`. */
export const fromSource = (path: string): readonly string[] => [
  '--conditions=svc-source',
  '--import',
  import.meta.resolve('tsx'),
  fileURLToPath(new URL(`../../../../${path}`, import.meta.url)),
];
