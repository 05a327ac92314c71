/** Writes the project: the files of `template/`, with the names that they have in the new project. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = new URL('../', import.meta.url);
const TEMPLATE = fileURLToPath(new URL('template/', PACKAGE));

/** npm does not publish files with these names, or treats them as its own. */
const RENAMED: Readonly<Record<string, string>> = { gitignore: '.gitignore' };

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/**
 * Writes into `folder`, which must be empty or absent. `packages`: a folder of packed packages to use instead of a
 * registry. Before anything is written, throws an Error that says what is wrong and what would be right.
 */
export function createShop(folder: string, packages: string | null = null): void {
  if (existsSync(folder) && (!statSync(folder).isDirectory() || readdirSync(folder).length > 0))
    throw new Error(`${folder} is there and not empty: name a new folder`);
  const { version } = readManifest(fileURLToPath(new URL('package.json', PACKAGE)));
  const versionOf = (name: string): string => (packages === null ? version : fileOf(name, version, packages));
  const manifest = fillIn(readManifest(join(TEMPLATE, 'package.json')), nameOf(folder), versionOf);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(TEMPLATE)) cpSync(join(TEMPLATE, name), join(folder, RENAMED[name] ?? name));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

const readManifest = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8')) as Manifest;

/** All packages of this project have the same version. */
function fillIn(manifest: Manifest, name: string, versionOf: (name: string) => string): Manifest {
  const fill = (dependencies: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(dependencies).map(([each, pinned]) => [
        each,
        each.startsWith('@svc/') ? versionOf(each) : pinned,
      ]),
    );
  const { dependencies, devDependencies } = manifest;
  return { ...manifest, name, dependencies: fill(dependencies), devDependencies: fill(devDependencies) };
}

function fileOf(name: string, version: string, packages: string): string {
  const file = resolve(packages, `${name.slice(1).replace('/', '-')}-${version}.tgz`);
  if (!existsSync(file)) throw new Error(`there is no ${file}: write the packages with npm run pack`);
  return `file:${file}`;
}

/** A valid npm package name. */
const nameOf = (folder: string): string =>
  basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'my-shop';
