import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Conditions are handed to Node too, for what vitest does not transform: naming `import` or `module` here would make
// `require` inside a dependency load the wrong file.
const conditions = ['svc-source', 'node'];

/** What every package's vitest project has in common. */
export const project = (name: string, test: Record<string, unknown> = {}) =>
  defineConfig({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: { name, include: ['src/**/*.test.ts', 'test/**/*.test.ts'], testTimeout: 30_000, ...test },
  });
