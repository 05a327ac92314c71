/**
 * Writes the declarations of all published libraries with the native compiler in one run, which takes hardly longer
 * than one library.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED, listSources, PACKAGES } from '../../tsup.declarations.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = join(ROOT, 'node_modules', 'typescript-native', 'bin', 'tsc');

/**
 * Writes the declarations of each source file to `COMPILED`. The build of a library takes from there those that its
 * entries reach.
 */
export function compileDeclarations(): void {
  const sources = [...listSources()].map(([name, { path, isDeclared }]) => ({
    ...{ name, isDeclared, file: join(PACKAGES, path) },
  }));
  const compilerOptions = {
    declaration: true,
    emitDeclarationOnly: true,
    noEmit: false,
    // `npm run types` checks the whole tree.
    noCheck: true,
    types: ['node'],
    lib: ['es2023', 'webworker'],
    rootDir: PACKAGES,
    outDir: '.',
    // With these paths the sources of other packages are part of the program, so that their declarations are written
    // too.
    paths: Object.fromEntries(sources.map(({ name, file }) => [name, [file]])),
  };
  rmSync(COMPILED, { recursive: true, force: true });
  mkdirSync(COMPILED, { recursive: true });
  const config = join(COMPILED, 'tsconfig.json');
  const files = sources.filter(({ isDeclared }) => isDeclared).map(({ file }) => file);
  writeFileSync(
    config,
    JSON.stringify({ extends: join(ROOT, 'tsconfig.base.json'), compilerOptions, files }),
  );
  execFileSync(process.execPath, [TSC, '-p', config], { stdio: 'inherit' });
}
