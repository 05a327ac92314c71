import { defineConfig } from 'tsup';
import { program } from '../../tsup.shared.ts';

/** Bundles all dependencies, because it is published as built (docs/decisions/0042-packages-that-need-no-other.md). */
export default defineConfig({
  ...program({ main: 'src/main.ts' }),
  noExternal: [/^(?!node:)/],
  splitting: false,
  sourcemap: false,
  // CommonJS dependencies load Node's modules by `require`.
  banner: {
    js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`,
  },
});
