import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts', 'src/node.ts', 'src/cli/main.ts'],
  format: ['esm'],
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  dts: { entry: ['src/index.ts', 'src/node.ts'] },
  clean: true,
  sourcemap: true,
});
