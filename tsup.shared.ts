import { cpSync } from 'node:fs';
import type { Options } from 'tsup';
import { writeDeclarations } from './tsup.declarations.ts';

/** Files that programs read from their own folder, and their sources. */
const BESIDE = {
  migrations: 'packages/store-pg/src/migrations',
  pages: 'apps/pages/dist',
  vectors: 'vectors',
};

const outDir = process.env.SVC_PROGRAMS_DIR ?? 'dist';

/**
 * A program: workspace packages are bundled from their sources with their dependencies; the program's own dependencies
 * stay external. `beside` is copied to the output folder: `dist`, unless a test run sets another one.
 */
export const program = (
  entry: Required<Options>['entry'],
  ...beside: readonly (keyof typeof BESIDE)[]
): Options => ({
  entry,
  outDir,
  format: ['esm'],
  target: 'node20',
  platform: 'node',
  noExternal: [/^@svc\//],
  // An optional dependency of some programs.
  external: ['sodium-native'],
  esbuildOptions: (options) => {
    options.absWorkingDir = process.cwd();
    options.conditions = ['svc-source'];
  },
  clean: true,
  sourcemap: true,
  onSuccess: async () => copyBeside(beside),
});

const copyBeside = (names: readonly (keyof typeof BESIDE)[]): void => {
  for (const name of names)
    cpSync(new URL(BESIDE[name], import.meta.url), `${outDir}/${name}`, {
      recursive: true,
      filter: (path) => !NOT_OF_THE_VECTORS.test(path),
    });
};

const NOT_OF_THE_VECTORS =
  /[\\/]vectors[\\/](?:node_modules|src|test|third-party|package\.json|[\w.-]+\.(?:ts|md))$/;

/**
 * A published library for every runtime: its entries as modules of both kinds, `declared` of them with declarations.
 * All dependencies, ours and others, are bundled (docs/decisions/0042-packages-that-need-no-other.md).
 */
export const library = (
  entry: readonly string[],
  {
    declared = entry,
    beside = [],
  }: { readonly declared?: readonly string[]; readonly beside?: readonly (keyof typeof BESIDE)[] } = {},
): Options => ({
  entry: [...entry],
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  noExternal: [/^(?!node:)/],
  splitting: true,
  esbuildOptions: (options) => {
    options.absWorkingDir = process.cwd();
    options.conditions = ['svc-source'];
    options.mainFields = ['module', 'main'];
  },
  clean: true,
  sourcemap: true,
  onSuccess: async () => {
    copyBeside(beside);
    writeDeclarations(declared);
  },
});
