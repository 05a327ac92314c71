import { cpSync } from 'node:fs';
import type { Options } from 'tsup';
import { writeDeclarations } from './tsup.declarations.ts';

/** What programs read from beside themselves, and where it comes from. */
const BESIDE = {
  migrations: 'packages/store-pg/src/migrations',
  pages: 'apps/pages/dist',
  vectors: 'vectors',
};

const outDir = process.env.SVC_PROGRAMS_DIR ?? 'dist';

/**
 * A program: workspace packages are bundled in from their sources, and what they use with them; its own dependencies
 * stay outside. `beside` is copied to where the program goes: `dist`, unless a test run says otherwise.
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
 * A published library, which runs everywhere: its entries as modules of both kinds, `declared` of them with
 * declarations. All that it uses is inside, of ours and of others (docs/decisions/0042-packages-that-need-no-other.md).
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
