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
  esbuildOptions: (options) => {
    options.conditions = ['svc-source'];
  },
  clean: true,
  sourcemap: true,
  onSuccess: async () => {
    for (const name of beside)
      cpSync(new URL(BESIDE[name], import.meta.url), `${outDir}/${name}`, {
        recursive: true,
        filter: (path) => !/[\\/]vectors[\\/](?:node_modules|src|test|third-party)$/.test(path),
      });
  },
});

/** A published library, which runs everywhere: its entries as modules, `declared` of them with declarations. */
export const library = (entry: readonly string[], declared: readonly string[] = entry): Options => ({
  entry: [...entry],
  format: ['esm'],
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  noExternal: [/^@svc\/sdk-core/],
  clean: true,
  sourcemap: true,
  onSuccess: () => writeDeclarations(declared),
});
