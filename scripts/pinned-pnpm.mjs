// The project's pnpm, pinned by hash. `scripts/pnpm/package-lock.json` contains the SHA-512 of its package, and `npm
// ci` unpacks no package with another hash, from whichever registry or mirror. pnpm has no dependencies, and none of
// its scripts is run.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const files = ['package.json', 'package-lock.json'];

/**
 * Where pnpm is, and how to fetch it. `root` is the project's folder; `lock` is the folder of the two files, the
 * project's own unless given.
 */
export function pinnedPnpm(root, lock = join(root, 'scripts', 'pnpm')) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(lock, file)));
  // Another pin uses another folder, so the result of an earlier pin is never used for it.
  const folder = join(root, '.data', 'pnpm', hash.digest('hex').slice(0, 16));
  const program = join(folder, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');
  // Overrides the user's settings about lock files: without a lock file no hash would be checked.
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
    /** Contains `pnpm` for programs that look it up on the path, such as turbo. */
    binFolder: join(folder, 'node_modules', '.bin'),
    isThere: () => existsSync(program),
    /** Writes the pin into its folder; returns the command that fetches the package. */
    prepare() {
      mkdirSync(folder, { recursive: true });
      for (const file of files) copyFileSync(join(lock, file), join(folder, file));
      // The project's own settings may name a mirror, and npm reads them from the folder into which it installs.
      if (existsSync(join(root, '.npmrc'))) copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'));
      return ['npm', fetching];
    },
  };
}
