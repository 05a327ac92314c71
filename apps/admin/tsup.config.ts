import { defineConfig } from 'tsup';

// Workspace packages are bundled in from their sources, and what they use with them; this package's own dependencies
// stay outside.
export default defineConfig({
  entry: ['src/main.ts'],
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
