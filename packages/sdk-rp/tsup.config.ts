import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts', 'src/express.ts', 'src/fastify.ts', 'src/fetch.ts'],
  format: ['esm'],
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  noExternal: ['@svc/sdk-core'],
  dts: { resolve: ['@svc/sdk-core'] },
  clean: true,
  sourcemap: true,
});
