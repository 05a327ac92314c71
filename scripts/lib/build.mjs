// Builds, checks types and writes the API reference.
import { join } from 'node:path';
import { pnpm, root, step } from './spawn.mjs';

/** Builds everything, or only the task `only`. */
export const build = (only) =>
  step('building', ...turbo(...(only === undefined ? ['bundle', 'build'] : ['build', only])));
/** Natively and for the whole tree at once: one program for each set of globals that code may use. */
export const types = () => step('checking types', ...nativeTypeScript('-b'));

/** Through pnpm, which puts itself on the path, because turbo calls it. */
function turbo(...args) {
  return pnpm('exec', 'turbo', 'run', ...args, '--output-logs=errors-only');
}

/** `tsc` of TypeScript 7. The one in `.bin` is of the older version, which writes declarations. */
function nativeTypeScript(...args) {
  return [process.execPath, [join(root, 'node_modules', 'typescript-native', 'bin', 'tsc'), ...args]];
}

export function docsApi(...args) {
  return [process.execPath, ['--import', 'tsx', join('scripts', 'docs-api', 'main.ts'), ...args]];
}
