/**
 * The pages as the API serves them: one HTML file each, scripts and styles beside them under names that hold their
 * hash. Addresses are relative, so that they work behind a path prefix; nothing is inline, as the policy demands.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const page = (name: string): string => fileURLToPath(new URL(`${name}.html`, import.meta.url));

export default defineConfig({
  base: './',
  resolve: { conditions: ['svc-source', 'module', 'browser'] },
  build: {
    target: 'es2022',
    // The API serves this folder under this path.
    assetsDir: 'pages',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ['verify-receipt', 'dashboard', 'transparency', 'playground'].map(page),
    },
  },
});
