/** Bundles a program into one file: its build with all dependencies. */
import { buildSync } from 'esbuild';

/** They call PKCS#11 libraries and libsodium and have one binary per platform, so they stay packages. */
const NATIVE = ['koffi', 'sodium-native'];
/**
 * CommonJS dependencies load Node's modules by `require` and files in their folder by `__dirname`. The banner uses no
 * global, because bundled code may have a variable `URL`.
 */
const BANNER = [
  `import { createRequire as requireOf } from 'node:module';`,
  'const require = requireOf(import.meta.url);',
  `const __dirname = require('node:path').dirname(require('node:url').fileURLToPath(import.meta.url));`,
].join(' ');

/** The licences of bundled code are in `<outfile>.LEGAL.txt`. */
export function bundleProgram(entry: string, outfile: string): void {
  buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: NATIVE,
    legalComments: 'linked',
    minifyWhitespace: true,
    banner: { js: BANNER },
    logLevel: 'warning',
    allowOverwrite: true,
  });
}
