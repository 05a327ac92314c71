import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts', 'src/express.ts', 'src/fastify.ts', 'src/fetch.ts'],
  format: ['esm'],
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  noExternal: ['@svc/sdk-core'],
  // By path: reached as a package, its declarations would be left out and imported from where nobody has them.
  dts: { compilerOptions: { paths: { '@svc/sdk-core': ['../sdk-core/src/index.ts'] } } },
  clean: true,
  sourcemap: true,
});
