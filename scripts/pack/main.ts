/**
 * `npm run pack [-- FOLDER]`: packs every published package, from the build, as a file that installs without others,
 * and prints the lines that install them.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { listPublished, ROOT } from '../release/packages.ts';
import { pack } from './pack.ts';

const [given, ...others] = process.argv.slice(2);
if (others.length > 0 || given?.startsWith('-')) {
  console.error('Usage: npm run pack [-- FOLDER]');
  process.exit(2);
}
const folder = given === undefined ? join(ROOT, '.data', 'packages') : resolve(given);
if (given === undefined) rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
console.log('Each installs by itself:');
for (const one of listPublished()) console.log(`  npm install ${join(folder, basename(pack(one, folder)))}`);
