import { defineConfig } from 'tsup';

export default defineConfig({
  entry: { 'svc-receipt': 'src/receipt/main.ts', 'svc-conformance': 'src/conformance/main.ts' },
  format: ['esm'],
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  clean: true,
  sourcemap: true,
});
