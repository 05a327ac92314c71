// Builds, checks types and writes the API reference.
import { join } from 'node:path';
import { pnpm, root, step } from './spawn.mjs';

/** All of it, or what `only` says. */
export const build = (only) =>
  step('building', ...turbo(...(only === undefined ? ['bundle', 'build'] : ['build', only])));
/** Natively, the whole tree at once: one program for each set of what code may find around it. */
export const types = () => step('checking types', ...nativeTypeScript('-b'));

/** Through pnpm, which so is on the path: turbo calls it. */
function turbo(...args) {
  return pnpm('exec', 'turbo', 'run', ...args, '--output-logs=errors-only');
}

/** `tsc` of TypeScript 7; the one in `.bin` belongs to the older, which makes declarations. */
function nativeTypeScript(...args) {
  return [process.execPath, [join(root, 'node_modules', 'typescript-native', 'bin', 'tsc'), ...args]];
}

export function docsApi(...args) {
  return [process.execPath, ['--import', 'tsx', join('scripts', 'docs-api', 'main.ts'), ...args]];
}
