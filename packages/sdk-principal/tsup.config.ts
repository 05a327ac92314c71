import { defineConfig } from 'tsup';

const SDK_CORE = {
  '@svc/sdk-core': ['../sdk-core/src/index.ts'],
  '@svc/sdk-core/arguments': ['../sdk-core/src/arguments.ts'],
  '@svc/sdk-core/errors': ['../sdk-core/src/errors.ts'],
  '@svc/sdk-core/random': ['../sdk-core/src/random.ts'],
};

export default defineConfig({
  entry: ['src/index.ts', 'src/agent.ts'],
  format: ['esm'],
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  noExternal: [/^@svc\/sdk-core/],
  // By path: reached as a package, its declarations would be left out and imported from where nobody has them.
  dts: { compilerOptions: { paths: SDK_CORE } },
  clean: true,
  sourcemap: true,
});
