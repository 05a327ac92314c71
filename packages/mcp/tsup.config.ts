import { defineConfig } from 'tsup';
import { program } from '../../tsup.shared.ts';

/** With all that it uses inside: it is published as it is built (docs/decisions/0042-packages-that-need-no-other.md). */
export default defineConfig({
  ...program({ main: 'src/main.ts' }),
  noExternal: [/^(?!node:)/],
  splitting: false,
  sourcemap: false,
  // What is CommonJS among them asks for the modules of Node by `require`.
  banner: {
    js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`,
  },
});
