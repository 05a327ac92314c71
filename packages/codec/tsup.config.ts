import { defineConfig } from 'tsup';

export default defineConfig({
  // A file for each module, so that who uses one of them is not sent the others.
  entry: ['src/*.ts', '!src/*.test.ts'],
  format: ['esm'],
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  dts: { entry: ['src/index.ts', 'src/native.ts'] },
  clean: true,
  sourcemap: true,
});
