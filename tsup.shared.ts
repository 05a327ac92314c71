import { cpSync } from 'node:fs';
import type { Options } from 'tsup';

/**
 * A program: workspace packages are bundled in from their sources, and what they use with them; its own dependencies stay
 * outside.
 */
export const program = (entry: Options['entry']): Options => ({
  ...(entry === undefined ? {} : { entry }),
  format: ['esm'],
  target: 'node20',
  platform: 'node',
  noExternal: [/^@svc\//],
  esbuildOptions: (options) => {
    options.conditions = ['svc-source'];
  },
  clean: true,
  sourcemap: true,
});

/** The migrations go where a program is, which reads them from beside itself (packages/store-pg/src/migrations.ts). */
export const copyMigrations = (to: URL): void =>
  cpSync(new URL('packages/store-pg/src/migrations', import.meta.url), to, { recursive: true });

/** The vectors go where a program is, which reads them from beside itself. */
export const copyVectors = (to: URL): void =>
  cpSync(new URL('vectors', import.meta.url), to, {
    recursive: true,
    filter: (path) => !/[\\/](?:node_modules|src|test|third-party)$/.test(path),
  });
