import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts', 'src/audit.ts', 'src/bundle.ts', 'src/inclusion.ts'],
  format: ['esm'],
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  dts: true,
  clean: true,
  sourcemap: true,
});
