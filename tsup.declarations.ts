/**
 * Writes the declarations of a published library: one file for each source file that the types of an entry reach.
 * Declarations of our other packages go into a folder of their own and are imported by path. Each exists for both kinds
 * of module, `.d.ts` and `.d.cts`.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGES = fileURLToPath(new URL('packages', import.meta.url));

/**
 * Where `scripts/bundle/declarations.ts` writes the declarations of all libraries, by the source path below `packages`.
 */
export const COMPILED = fileURLToPath(new URL('.data/declarations', import.meta.url));

interface Source {
  /** Path below `packages`. */
  readonly path: string;
  /** Whether it is an entry of a published library. */
  readonly isDeclared: boolean;
}

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<
    Record<string, string | { readonly 'svc-source'?: string; readonly types?: string }>
  >;
}

/** By the name in an import, such as `@svc/codec/native`. */
export function listSources(): ReadonlyMap<string, Source> {
  const sources = new Map<string, Source>();
  for (const folder of readdirSync(PACKAGES)) {
    const file = join(PACKAGES, folder, 'package.json');
    if (!existsSync(file)) continue;
    const { name, exports = {} } = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    for (const [path, target] of Object.entries(exports)) {
      const source = typeof target === 'string' ? target : target['svc-source'];
      if (source === undefined || !source.endsWith('.ts') || path.includes('*')) continue;
      const isDeclared = typeof target !== 'string' && target.types !== undefined;
      sources.set(posix.join(name, path), { path: posix.join(folder, source), isDeclared });
    }
  }
  return sources;
}

/** An import of one of our packages, or of a file. */
const IMPORT = /(?<=(['"]))(@svc\/[\w/-]+|\.{1,2}\/[^'"]+\.ts)(?=\1)/g;

/** Writes the declarations of the package that is the working folder; `entry` is relative to it. */
export function writeDeclarations(entry: readonly string[]): void {
  const own = relative(PACKAGES, process.cwd());
  const sources = listSources();
  const targetOf = (specifier: string, importer: string): string | undefined =>
    specifier.startsWith('.') ? posix.join(posix.dirname(importer), specifier) : sources.get(specifier)?.path;
  /** The path without its extension. */
  const placeOf = (source: string): string => {
    const path = source.replace('/src/', '/').replace(/\.ts$/, '');
    return posix.join('dist', path.startsWith(`${own}/`) ? path.slice(own.length + 1) : path);
  };
  const reached = new Set(entry.map((file) => posix.join(own, file)));
  for (const source of reached) {
    const declared = readFileSync(join(COMPILED, source.replace(/\.ts$/, '.d.ts')), 'utf8');
    const place = placeOf(source);
    const written = (extension: string): string =>
      declared.replaceAll(IMPORT, (specifier) => {
        const target = targetOf(specifier, source);
        if (target === undefined) return specifier;
        reached.add(target);
        const path = posix.relative(posix.dirname(place), placeOf(target));
        return `${path.startsWith('.') ? '' : './'}${path}${extension}`;
      });
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(`${place}.d.ts`, written('.js'));
    writeFileSync(`${place}.d.cts`, written('.cjs'));
  }
}
