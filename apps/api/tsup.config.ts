import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'tsup';

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// Workspace packages are bundled in from their sources, and what they use with them; this package's own dependencies
// stay outside.
export default defineConfig({
  entry: ['src/main.ts', 'src/start.ts'],
  format: ['esm'],
  target: 'node20',
  platform: 'node',
  noExternal: [/^@svc\//],
  esbuildOptions: (options) => {
    options.conditions = ['svc-source'];
  },
  clean: true,
  sourcemap: true,
  // The pages and the vectors go where the program is, which reads them from beside itself.
  onSuccess: async () => {
    cpSync(pathOf('../pages/dist'), pathOf('dist/pages'), { recursive: true });
    cpSync(pathOf('../../vectors'), pathOf('dist/vectors'), {
      recursive: true,
      filter: (path) => !path.endsWith('node_modules'),
    });
  },
});
