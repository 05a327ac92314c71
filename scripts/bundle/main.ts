/**
 * Bundles libraries and programs in one process, each by its `tsup.config.ts`, because starting a bundler takes longer
 * than bundling most of them. Parameters: folders of packages. Without parameters: all except the API, which includes
 * the pages and is bundled after them.
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
  // A configuration applies to the package in the working folder.
  process.chdir(join(ROOT, folder));
  await build({ silent: true });
}
