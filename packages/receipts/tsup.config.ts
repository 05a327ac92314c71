import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts', 'src/audit.ts', 'src/bundle.ts', 'src/inclusion.ts', 'src/cli/main.ts'],
  format: ['esm'],
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  dts: { entry: ['src/index.ts', 'src/audit.ts', 'src/bundle.ts', 'src/inclusion.ts'] },
  clean: true,
  sourcemap: true,
});
