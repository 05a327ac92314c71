import { defineConfig } from 'tsup';

// Every measured program is plain JavaScript when it runs. The entries are `bench` and the programs it starts.
export default defineConfig({
  entry: {
    bench: 'src/bench.ts',
    load: 'src/load/load.ts',
    floor: 'src/floor/floor.ts',
    plain: 'src/plain/plain.ts',
    'lone-commit': 'src/floor/lone-commit.ts',
  },
  format: ['esm'],
  target: 'node20',
  platform: 'node',
  noExternal: [/^@svc\//],
  esbuildOptions(options) {
    options.conditions = ['svc-source'];
  },
  clean: true,
  sourcemap: true,
});
