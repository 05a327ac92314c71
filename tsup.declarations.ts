/**
 * Declarations of a published library, by the native compiler: one file for each source file that an entry reaches. What
 * is reached of `@svc/sdk-core`, which nobody can install, lies in a folder of its own and is imported by path.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const TSC = fileURLToPath(new URL('node_modules/typescript-native/bin/tsc', import.meta.url));
const OPTIONS = `--ignoreConfig --declaration --emitDeclarationOnly --target es2022 --module esnext
  --moduleResolution bundler --customConditions svc-source --lib es2023,webworker --types node --strict
  --exactOptionalPropertyTypes --skipLibCheck --allowImportingTsExtensions`.split(/\s+/);
const SHARED = join('..', 'sdk-core');

/** Of the package that is the working folder; `entry` from there. */
export async function writeDeclarations(entry: readonly string[]): Promise<void> {
  const { devDependencies = {} } = readManifest('.');
  await compile(entry, 'src', 'dist');
  if ('@svc/sdk-core' in devDependencies) {
    const modules = Object.values(readManifest(SHARED).exports).map((path) => join(SHARED, path));
    await compile(modules, join(SHARED, 'src'), join('dist', 'sdk-core'));
  }
  for (const file of readdirSync('dist', { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.d.ts')) rewriteImports(join('dist', file));
}

interface Manifest {
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string>>;
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

const compile = (files: readonly string[], from: string, to: string): Promise<unknown> =>
  promisify(execFile)(process.execPath, [TSC, ...files, ...OPTIONS, '--rootDir', from, '--outDir', to]);

/** Files are named as they are once compiled, and `@svc/sdk-core` by its place here. */
function rewriteImports(file: string): void {
  const shared = (name = 'index') => {
    const path = relative(dirname(file), join('dist', 'sdk-core', `${name}.js`)).replaceAll('\\', '/');
    return path.startsWith('.') ? path : `./${path}`;
  };
  const text = readFileSync(file, 'utf8')
    .replaceAll(/(['"])(\.{1,2}\/[^'"]+)\.ts\1/g, '$1$2.js$1')
    .replaceAll(
      /(['"])@svc\/sdk-core(?:\/([\w-]+))?\1/g,
      (_, quote: string, name?: string) => `${quote}${shared(name)}${quote}`,
    );
  writeFileSync(file, text);
}
