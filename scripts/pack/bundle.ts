/** A program as one file: its build with all that it needs of others inside. */
import { buildSync } from 'esbuild';

/** Call PKCS#11 libraries and libsodium; they have a binary for each platform, so they stay packages. */
const NATIVE = ['koffi', 'sodium-native'];
/**
 * What is CommonJS among the dependencies asks for the modules of Node by `require`, and for a file beside itself by
 * `__dirname`. It names no global: what is bundled may have a variable `URL`.
 */
const BANNER = [
  `import { createRequire as requireOf } from 'node:module';`,
  'const require = requireOf(import.meta.url);',
  `const __dirname = require('node:path').dirname(require('node:url').fileURLToPath(import.meta.url));`,
].join(' ');

/** Licences of what is inside stand beside it, in `<outfile>.LEGAL.txt`. */
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
