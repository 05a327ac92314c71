// The pnpm of this project, pinned by hash: `scripts/pnpm/package-lock.json` has the SHA-512 of its package, and `npm ci`
// unpacks nothing that has another, whichever registry or mirror it comes from. It brings no dependencies, and none of its
// scripts is run.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const files = ['package.json', 'package-lock.json'];

/**
 * Where it is, and how it gets there. `root` is the project's folder; `lock` the folder of the two files, those of the project
 * unless given.
 */
export function pinnedPnpm(root, lock = join(root, 'scripts', 'pnpm')) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(lock, file)));
  // Another pin is another folder: what an earlier one fetched is never taken for it.
  const folder = join(root, '.data', 'pnpm', hash.digest('hex').slice(0, 16));
  const program = join(folder, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');
  // Whatever the user's settings say of lock files: without one nothing would be held against the hash.
  const fetching = [
    'ci',
    '--package-lock',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefix',
    folder,
  ];
  return {
    program,
    /** Has `pnpm` for whoever looks it up, as turbo does. */
    binFolder: join(folder, 'node_modules', '.bin'),
    isThere: () => existsSync(program),
    /** Puts the pin into place; answers the command that fetches what it names. */
    prepare() {
      mkdirSync(folder, { recursive: true });
      for (const file of files) copyFileSync(join(lock, file), join(folder, file));
      // The project's own settings, which may name a mirror: npm looks for them where it installs.
      if (existsSync(join(root, '.npmrc'))) copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'));
      return ['npm', fetching];
    },
  };
}
