/**
 * Bundles libraries and programs, each as its `tsup.config.ts` says, in one process: to start a bundler takes longer
 * than to bundle most of them. Parameters: folders of packages. None: all but the API, which has the pages beside
 * itself and is bundled once they are built.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';
import { compileDeclarations } from './declarations.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const listBundled = (): string[] =>
  ['packages', 'apps', '.']
    .flatMap((group) => readdirSync(join(ROOT, group)).map((name) => join(group, name)))
    .filter((folder) => folder !== join('apps', 'api') && existsSync(join(ROOT, folder, 'tsup.config.ts')));

const named = process.argv.slice(2);
if (named.length === 0) compileDeclarations();
for (const folder of named.length > 0 ? named : listBundled()) {
  // A configuration is of the package that is the working folder.
  process.chdir(join(ROOT, folder));
  await build({ silent: true });
}
